#include "hidepid.h"

#include "proc.h"
#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FDINFO_MAX 256

/* The settings that leave somebody out of a listing; by numbers before 5.8. */
static const struct {
	const char *name;
	bool for_group; /* members of the mount's group see everybody */
} hiding[] = {{"invisible", true}, {"2", true}, {"ptraceable", false}, {"4", false}};

static bool is_hiding(const char *value, size_t length, bool *ret_for_group)
{
	for (size_t i = 0; i < sizeof(hiding) / sizeof(hiding[0]); i++)
		if (strlen(hiding[i].name) == length &&
		    memcmp(hiding[i].name, value, length) == 0) {
			*ret_for_group = hiding[i].for_group;
			return true;
		}
	return false;
}

/* The options of the filesystem: "rw,gid=33,hidepid=invisible", to the end of the line. */
static struct sb_hidepid parse_options(const char *options, const char *end)
{
	static const char hidepid[] = "hidepid=", gid[] = "gid=";
	struct sb_hidepid result = {false, 0};
	bool for_group = true;

	while (options < end) {
		const char *comma = memchr(options, ',', (size_t)(end - options));
		size_t length = (size_t)((comma ? comma : end) - options);

		if (length > strlen(hidepid) && strncmp(options, hidepid, strlen(hidepid)) == 0)
			result.hides = is_hiding(options + strlen(hidepid),
						 length - strlen(hidepid), &for_group);
		else if (length > strlen(gid) && strncmp(options, gid, strlen(gid)) == 0)
			result.gid = (gid_t)strtoul(options + strlen(gid), NULL, 10);
		options += length + 1;
	}
	if (!for_group)
		result.gid = SB_HIDEPID_NO_GROUP;
	return result;
}

/* "id parent dev root point options [fields] - type source superoptions"; blanks are escaped. */
static bool parse_line(const char *line, const char *end, unsigned long mount_id,
		       struct sb_hidepid *ret)
{
	const char *at;
	char *rest;

	if (strtoul(line, &rest, 10) != mount_id || *rest != ' ')
		return false;
	at = memmem(line, (size_t)(end - line), " - ", strlen(" - "));
	at = at ? memchr(at + 3, ' ', (size_t)(end - at - 3)) : NULL;
	at = at ? memchr(at + 1, ' ', (size_t)(end - at - 1)) : NULL;
	if (!at)
		return false;
	*ret = parse_options(at + 1, end);
	return true;
}

bool sb_hidepid_parse(const char *mountinfo, size_t length, unsigned long mount_id,
		      struct sb_hidepid *ret)
{
	const char *line = mountinfo, *stop = mountinfo + length;

	while (line < stop) {
		const char *end = memchr(line, '\n', (size_t)(stop - line));

		if (!end)
			return false; /* cut off */
		if (parse_line(line, end, mount_id, ret))
			return true;
		line = end + 1;
	}
	return false;
}

/*
 * The kernel's own number of the mount that a descriptor is on, by our self below one of procfs;
 * 0: unknown; -errno.
 */
static long mount_of(int own, int procfs)
{
	char path[32], text[FDINFO_MAX];
	const char *line;
	ssize_t n;

	snprintf(path, sizeof(path), "self/fdinfo/%d", procfs);
	n = sb_proc_read_into(own, path, text, sizeof(text));
	if (n < 0)
		return n;
	line = strstr(text, "mnt_id:");
	return line ? strtol(line + strlen("mnt_id:"), NULL, 10) : 0;
}

static bool may_trace_everybody(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective & CAP_TO_MASK(CAP_SYS_PTRACE));
}

static bool is_ours(gid_t gid)
{
	return gid != SB_HIDEPID_NO_GROUP && (gid == getegid() || group_member(gid));
}

/* What our own self, found below this procfs, says of the mount of another. 1; 0: nothing; -errno.
 */
static int learn(int own, int procfs, struct sb_hidepid *ret)
{
	sb_auto_free char *text = NULL;
	long mount = mount_of(own, procfs);
	size_t length;
	int r;

	if (mount <= 0)
		return (int)mount;
	r = sb_proc_read(own, "self/mountinfo", &text, &length);
	if (r < 0)
		return r;
	return sb_hidepid_parse(text, length, (unsigned long)mount, ret) ? 1 : 0;
}

int sb_hidepid_hides_from_us(int procfs)
{
	struct sb_hidepid hidepid = {0};
	int r = learn(procfs, procfs, &hidepid);

	if (r <= 0) {
		/* One of another pid namespace, where we are nobody. */
		sb_auto_close int own = open(SB_PROC_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		r = own < 0 ? -errno : learn(own, procfs, &hidepid);
	}
	if (r <= 0)
		return r;
	return hidepid.hides && !may_trace_everybody() && !is_ours(hidepid.gid);
}

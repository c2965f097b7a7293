#include "creds.h"

#include "user.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(capability) (UINT64_C(1) << (capability))

/* To become the user and to come back. */
#define SWITCHING (BIT(CAP_SETUID) | BIT(CAP_SETGID))

/* To reach what others keep to themselves: directories, and where the marker or a file of metrics
 * may have to go. */
#define REACHING (BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_DAC_OVERRIDE))

/* To learn which mounts there are. */
#define SEEING (BIT(CAP_SYS_PTRACE) | BIT(CAP_SYS_ADMIN))

struct caps {
	uint64_t permitted, effective;
};

static int get_caps(struct caps *ret)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	ret->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	ret->effective = data[0].effective | (uint64_t)data[1].effective << 32;
	return 0;
}

/* Of the calling thread alone; nothing is left to be inherited. */
static int set_caps(struct caps caps)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{.permitted = (uint32_t)caps.permitted, .effective = (uint32_t)caps.effective},
		{.permitted = (uint32_t)(caps.permitted >> 32),
		 .effective = (uint32_t)(caps.effective >> 32)},
	};

	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static int limit_caps(uint64_t permitted, uint64_t effective)
{
	struct caps caps = {0};
	int r = get_caps(&caps);

	if (r < 0)
		return r;
	caps.permitted &= permitted;
	caps.effective &= permitted & effective;
	return set_caps(caps);
}

int sb_creds_confine(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return limit_caps(SWITCHING | REACHING | SEEING, UINT64_MAX);
}

int sb_creds_confine_reader(void)
{
	struct caps caps = {0};
	int r = get_caps(&caps);

	/* What is not in effect belongs to who acts for the user, and goes back there. */
	return r < 0 ? r : limit_caps(caps.effective & REACHING, UINT64_MAX);
}

static int read_own_groups(struct sb_creds *creds)
{
	int count = getgroups(0, NULL);

	if (count < 0)
		return -errno;
	creds->own_groups = calloc((size_t)count + 1, sizeof(*creds->own_groups));
	if (!creds->own_groups)
		return -ENOMEM;
	count = getgroups(count, creds->own_groups);
	if (count < 0)
		return -errno;
	creds->own_group_count = (size_t)count;
	return 0;
}

int sb_creds_prepare(uid_t uid, struct sb_creds *ret)
{
	struct caps caps = {0};
	int r;

	*ret = (struct sb_creds){.needed = uid != geteuid(), .uid = uid};
	if (!ret->needed)
		return 0;
	r = get_caps(&caps);
	if (r < 0)
		return r;
	ret->own_effective = caps.effective;
	r = read_own_groups(ret);
	if (r == 0)
		r = sb_user_groups(uid, &ret->gid, &ret->groups, &ret->group_count);
	if (r < 0)
		sb_creds_free(ret);
	return r;
}

/* setfsuid(2) tells no errors: only asking again does. */
static int set_fs_ids(uid_t uid, gid_t gid)
{
	setfsgid(gid);
	setfsuid(uid);
	if ((gid_t)setfsgid((gid_t)-1) != gid || (uid_t)setfsuid((uid_t)-1) != uid)
		return -EPERM;
	return 0;
}

/*
 * setgroups(3) changes all threads, and ends the process when one of them may and another may not:
 * this thread alone becomes the user, as with setfsuid(2).
 */
static int set_groups(size_t count, const gid_t *groups)
{
	return syscall(SYS_setgroups, count, groups) < 0 ? -errno : 0;
}

int sb_creds_assume(const struct sb_creds *creds)
{
	int r;

	if (!creds->needed)
		return 0;
	r = set_groups(creds->group_count, creds->groups);
	if (r < 0)
		return r;
	r = set_fs_ids(creds->uid, creds->gid);
	/* Uid 0 has them by right: whoever acts for root without being it gains nothing here. */
	if (r == 0 && creds->uid != 0)
		r = limit_caps(UINT64_MAX, SWITCHING);
	if (r < 0)
		sb_creds_restore(creds);
	return r;
}

int sb_creds_restore(const struct sb_creds *creds)
{
	struct caps caps = {0};
	int r, groups;

	if (!creds->needed)
		return 0;
	r = set_fs_ids(geteuid(), getegid());
	groups = set_groups(creds->own_group_count, creds->own_groups);
	r = r < 0 ? r : groups;
	if (get_caps(&caps) < 0)
		return r < 0 ? r : -EPERM;
	caps.effective = creds->own_effective & caps.permitted;
	return r < 0 ? r : set_caps(caps);
}

void sb_creds_free(struct sb_creds *creds)
{
	free(creds->groups);
	free(creds->own_groups);
	*creds = (struct sb_creds){0};
}

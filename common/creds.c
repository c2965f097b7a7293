#include "creds.h"

#include "user.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What overrides permissions on files: the set that setfsuid(2) takes away with uid 0. */
#define OVERRIDES                                                                                  \
	(1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH | 1U << CAP_FOWNER | \
	 1U << CAP_FSETID | 1U << CAP_LINUX_IMMUTABLE | 1U << CAP_MKNOD)

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
	int r;

	*ret = (struct sb_creds){.needed = uid != geteuid(), .uid = uid};
	if (!ret->needed)
		return 0;
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

/* Whether any of the overriding capabilities is still in effect. */
static int check_overrides_gone(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	return data[0].effective & OVERRIDES ? -EPERM : 0;
}

int sb_creds_assume(const struct sb_creds *creds)
{
	int r;

	if (!creds->needed)
		return 0;
	if (setgroups(creds->group_count, creds->groups) < 0)
		return -errno;
	r = set_fs_ids(creds->uid, creds->gid);
	/* Uid 0 has them by right: whoever acts for root without being it gains nothing here. */
	if (r == 0 && creds->uid != 0)
		r = check_overrides_gone();
	if (r < 0)
		sb_creds_restore(creds);
	return r;
}

int sb_creds_restore(const struct sb_creds *creds)
{
	int r;

	if (!creds->needed)
		return 0;
	r = set_fs_ids(geteuid(), getegid());
	if (setgroups(creds->own_group_count, creds->own_groups) < 0 && r == 0)
		r = -errno;
	return r;
}

void sb_creds_free(struct sb_creds *creds)
{
	free(creds->groups);
	free(creds->own_groups);
	*creds = (struct sb_creds){0};
}

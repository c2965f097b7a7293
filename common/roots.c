#include "roots.h"

#include "nsmount.h"
#include "proc.h"
#include "scope.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define RUNTIME_DIRS "/run/user"

static int own_path(struct sb_roots *roots, char *path)
{
	char **grown = reallocarray(roots->owned, roots->owned_count + 1, sizeof(*grown));

	if (!grown) {
		free(path);
		return -ENOMEM;
	}
	roots->owned = grown;
	grown[roots->owned_count++] = path;
	return 0;
}

int sb_roots_add(struct sb_roots *roots, const char *path, uid_t uid, bool required)
{
	struct sb_root *grown = reallocarray(roots->item, roots->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	roots->item = grown;
	grown[roots->count++] =
		(struct sb_root){.path = path, .uid = uid, .required = required, .fd = -1};
	return 0;
}

static int add_below(struct sb_roots *roots, const char *name, uid_t uid)
{
	char *path = NULL;
	int r;

	if (asprintf(&path, RUNTIME_DIRS "/%s", name) < 0)
		return -ENOMEM;
	r = own_path(roots, path);
	return r < 0 ? r : sb_roots_add(roots, path, uid, false);
}

int sb_roots_add_runtime(struct sb_roots *roots, uid_t uid)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", uid);
	return add_below(roots, name, uid);
}

int sb_roots_add_default(struct sb_roots *roots, uid_t uid)
{
	const char *temporary = getenv("TMPDIR");
	int r = sb_roots_add_runtime(roots, uid);

	if (r == 0)
		r = sb_roots_add(roots, "/dev/shm", uid, false);
	if (r == 0)
		r = sb_roots_add(roots, temporary && *temporary ? temporary : "/tmp", uid, false);
	return r;
}

int sb_roots_add_all_users(struct sb_roots *roots)
{
	sb_auto_closedir DIR *dir = opendir(RUNTIME_DIRS);
	const struct dirent *entry;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((errno = 0, entry = readdir(dir))) {
		uint64_t number;
		struct stat st;
		int r;

		if (sb_text_parse_u64(entry->d_name, UINT32_MAX, &number) < 0)
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		r = add_below(roots, entry->d_name, st.st_uid);
		if (r < 0)
			return r;
	}
	return -errno;
}

static void note_duplicate(const struct sb_roots *roots, struct sb_root *root)
{
	for (const struct sb_root *other = roots->item; other < root; other++)
		if (other->fd >= 0 && other->dev == root->dev && other->inode == root->inode)
			root->duplicate = true;
}

static void note_uid(struct sb_roots *roots, uid_t uid)
{
	for (size_t i = 0; i < roots->uid_count; i++)
		if (roots->uids[i] == uid)
			return;
	roots->uids[roots->uid_count++] = uid;
}

/*
 * The device by which mount tables know the filesystem of a root; on btrfs it is another than that
 * of stat(2), which names the subvolume.
 */
static dev_t learn_mount_device(const struct sb_mount_table *table, const struct sb_root *root)
{
	const struct sb_mount *mount;
	struct statx stx;

	if (statx(root->fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0 ||
	    !(stx.stx_mask & STATX_MNT_ID))
		return root->dev;
	mount = sb_mount_table_find(table, (uint32_t)stx.stx_mnt_id);
	return mount ? mount->device : root->dev;
}

int sb_roots_open(struct sb_roots *roots)
{
	sb_auto_free char *text = NULL;
	struct sb_mount_table table = {0};
	size_t length;

	if (sb_nsmount_read_text(AT_FDCWD, SB_PROC_DIR "/self/mountinfo", &text, &length) == 0)
		(void)sb_nsmount_parse(text, length, &table);
	roots->uids = calloc(roots->count + 1, sizeof(*roots->uids));
	roots->devices = calloc(roots->count * 2 + 1, sizeof(*roots->devices));
	if (!roots->uids || !roots->devices)
		return -ENOMEM;
	for (size_t i = 0; i < roots->count; i++) {
		struct sb_root *root = &roots->item[i];

		note_uid(roots, root->uid);
		sb_root_open(root);
		if (root->fd < 0)
			continue;
		note_duplicate(roots, root);
		roots->devices[roots->device_count++] = root->dev;
		roots->devices[roots->device_count++] = learn_mount_device(&table, root);
	}
	sb_mount_table_free(&table);
	return 0;
}

void sb_roots_free(struct sb_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++)
		sb_root_close(&roots->item[i]);
	for (size_t i = 0; i < roots->owned_count; i++)
		free(roots->owned[i]);
	free(roots->item);
	free(roots->owned);
	free(roots->uids);
	free(roots->devices);
}

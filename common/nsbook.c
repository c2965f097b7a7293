#include "nsbook.h"

#include "mntabi.h"
#include "nsfile.h"
#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

/*
 * Descriptors left for everything but holding namespaces: standard ones, procfs and its lists,
 * the files read at a time. Namespaces beyond what is held are identified anew at each task.
 */
#define FDS_RESERVED 24

/* How often a task may be found in another namespace than a moment before. */
#define CHASES_MOST 8

/* A namespace whose number is known. */
struct namespace
{
	uint64_t inode;
	uint64_t id; /* 0: the kernel gave none */
	int fd;	     /* -1: not held */
	bool held;   /* its number cannot be reused while we look */
	bool whole;
	bool by_text;
	bool by_file;		 /* no task was met in it: a file names it */
	struct sb_task shown_by; /* the first task met in it */
};

/* A table of mounts whose namespace has no number for us: text of a task that hides its links. */
struct table {
	char *text;
	size_t length;
	bool whole;
	bool counted; /* as a namespace of its own */
	uint32_t *ids;
	size_t id_count;
	struct sb_task shown_by;
};

/* A file that names a mount namespace, standing somewhere in one that was read. */
struct ns_line {
	uint64_t inode;
	char *point;
	bool own; /* it stands in a user namespace of the target uid's own */
	struct sb_task shown_by;
};

struct member {
	uint64_t inode;
	struct sb_task task;
};

struct sb_nsbook {
	struct sb_nsbook_options options;
	struct sb_pinset *pins;
	struct sb_proof *proof;
	struct namespace *namespaces;
	size_t namespace_count;
	struct sb_idmap by_inode; /* inode number -> index of the latest with it */
	struct table *tables;
	size_t table_count;
	struct ns_line *lines;
	size_t line_count;
	struct member *members; /* when holders are wanted */
	size_t member_count;
	struct sb_idmap whole_ids; /* mount ids of whole tables -> enum sb_evidence */
	size_t fds_left;
};

/* Room for one more in an array whose capacity is the next power of two. */
static void *append(void *array, size_t *count, size_t item_size)
{
	void **pointer = array;

	if ((*count & (*count - 1)) == 0) {
		void *grown = reallocarray(*pointer, *count ? *count * 2 : 1, item_size);

		if (!grown)
			return NULL;
		*pointer = grown;
	}
	memset((char *)*pointer + *count * item_size, 0, item_size);
	return (char *)*pointer + (*count)++ * item_size;
}

static bool is_target(const struct sb_nsbook *book, uid_t uid)
{
	for (size_t i = 0; i < book->options.uid_count; i++)
		if (book->options.uids[i] == uid)
			return true;
	return sb_uid_set_has(book->options.subordinates, uid);
}

/*
 * Whether a namespace belongs to a user namespace that the target uid made. Where that cannot be
 * asked, the task that showed it answers: its uid is the user's.
 */
static bool is_own(const struct sb_nsbook *book, int ns_fd, const struct sb_task *task)
{
	sb_auto_close int user_ns = ns_fd < 0 ? -1 : ioctl(ns_fd, SB_NS_GET_USERNS);
	uid_t owner = 0; /* no checker of memory knows that the kernel fills it */

	if (user_ns >= 0 && ioctl(user_ns, SB_NS_GET_OWNER_UID, &owner) == 0)
		return is_target(book, owner);
	return !task->uid_known || is_target(book, task->uid);
}

static int note_ns_lines(struct sb_nsbook *book, const struct sb_mount_table *table, bool own,
			 const struct sb_task *task)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct sb_mount *mount = &table->item[i];
		struct ns_line *line;
		uint64_t inode;

		if (mount->kind != SB_FS_NSFS || !sb_proc_parse_ns(mount->root, "mnt", &inode))
			continue;
		line = append(&book->lines, &book->line_count, sizeof(*line));
		if (!line)
			return -ENOMEM;
		*line = (struct ns_line){.inode = inode, .own = own, .shown_by = *task};
		line->point = strdup(mount->point);
		if (!line->point)
			return -ENOMEM;
	}
	return 0;
}

static int note_whole_ids(struct sb_nsbook *book, const struct sb_mount_table *table,
			  enum sb_evidence evidence)
{
	for (size_t i = 0; i < table->count; i++) {
		int r = sb_idmap_put(&book->whole_ids, table->item[i].id, evidence);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Takes what a table shows of a namespace with a number. */
static int absorb(struct sb_nsbook *book, struct namespace *ns, const struct sb_mount_table *table,
		  bool whole, bool by_text, const struct sb_task *task)
{
	int r = sb_pinset_absorb(book->pins, table, ns->inode);

	if (r == 0)
		r = note_ns_lines(book, table, is_own(book, ns->fd, task), task);
	if (r == 0 && whole)
		r = note_whole_ids(book, table,
				   by_text ? SB_EVIDENCE_MOUNTINFO : SB_EVIDENCE_NAMESPACES);
	if (r == 0 && whole) {
		ns->whole = true;
		ns->by_text = by_text;
	}
	return r;
}

/* Whether a table is all of its namespace: it has a "/" line, and the task's root is that. */
static bool shows_whole(const struct sb_nsbook *book, const struct sb_mount_table *table,
			const struct sb_task *task)
{
	char path[64], root[8];
	ssize_t n;

	if (!sb_mount_table_has_root(table))
		return false;
	snprintf(path, sizeof(path), "%s/root", task->path);
	n = sb_proc_readlink(book->options.procfs, path, root, sizeof(root));
	/* Where the link is closed to us, the "/" line is taken at its word. */
	if (n < 0)
		return n == -EACCES || n == -EPERM;
	return strcmp(root, "/") == 0;
}

static int read_link(const struct sb_nsbook *book, const struct sb_task *task, uint64_t *ret_inode)
{
	char path[64], link[40];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/ns/mnt", task->path);
	n = sb_proc_readlink(book->options.procfs, path, link, sizeof(link));
	if (n < 0)
		return (int)n;
	return sb_proc_parse_ns(link, "mnt", ret_inode) ? 0 : -EACCES;
}

static int parse_text(struct sb_nsbook *book, const struct sb_task *task, const char *text,
		      size_t length, struct sb_mount_table *ret)
{
	int r = sb_nsmount_parse(text, length, ret);

	if (r == -EBADMSG) {
		sb_proof_lose(book->proof, sb_proof_loss_of(task), task,
			      "its mountinfo holds a line that cannot be parsed");
		return 0;
	}
	return r;
}

static int read_text(struct sb_nsbook *book, const struct sb_task *task, char **ret,
		     size_t *ret_length, bool *ret_still)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "%s/mountinfo", task->path);
	r = sb_nsmount_read_text(book->options.procfs, path, ret, ret_length);
	*ret_still = r == 0;
	if (r == -EBUSY) {
		sb_proof_lose(book->proof, sb_proof_loss_of(task), task,
			      "its mounts changed at each reading of them; retry");
		return 0;
	}
	return r;
}

/* Reads a namespace with a number by the text that one of its tasks shows. */
static int read_by_text(struct sb_nsbook *book, struct namespace *ns, const struct sb_task *task)
{
	sb_auto_free char *text = NULL;
	struct sb_mount_table table = {0};
	uint64_t inode = 0;
	size_t length;
	bool still;
	int r = read_text(book, task, &text, &length, &still);

	if (r == 0)
		r = read_link(book, task, &inode);
	if (r < 0)
		return r;
	if (inode != ns->inode)
		return -EAGAIN; /* moved on meanwhile: whose table this is cannot be told */
	r = parse_text(book, task, text, length, &table);
	if (r == 0)
		r = absorb(book, ns, &table, still && shows_whole(book, &table, task), true, task);
	sb_mount_table_free(&table);
	return r;
}

/* Reads a namespace whole by its id; where that cannot be, it stays unread, for another way. */
static int read_by_id(struct sb_nsbook *book, struct namespace *ns, const struct sb_task *task)
{
	struct sb_mount_table table = {0};
	int r;

	if (book->options.text_only || ns->id == 0 || ns->fd < 0)
		return 0;
	r = sb_nsmount_read(ns->fd, ns->id, &table);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return 0; /* not for us, or not by this kernel: the text is left */
	r = absorb(book, ns, &table, true, false, task);
	sb_mount_table_free(&table);
	return r;
}

int sb_nsbook_note(struct sb_nsbook *book, const struct sb_task *task, uint64_t inode)
{
	struct member *member;

	if (!book->options.want_holders)
		return 0;
	member = append(&book->members, &book->member_count, sizeof(*member));
	if (!member)
		return -ENOMEM;
	*member = (struct member){.inode = inode, .task = *task};
	return 0;
}

static struct namespace *add_namespace(struct sb_nsbook *book, const struct namespace *ns)
{
	struct namespace *added;

	added = append(&book->namespaces, &book->namespace_count, sizeof(*added));
	if (!added || sb_idmap_put(&book->by_inode, ns->inode, book->namespace_count - 1) < 0)
		return NULL;
	*added = *ns;
	return added;
}

static struct namespace *find_namespace(struct sb_nsbook *book, uint64_t inode)
{
	uint64_t index;

	return sb_idmap_get(&book->by_inode, inode, &index) ? &book->namespaces[index] : NULL;
}

bool sb_nsbook_met(const struct sb_nsbook *book, uint64_t inode)
{
	return sb_idmap_get(&book->by_inode, inode, NULL);
}

bool sb_nsbook_has(const struct sb_nsbook *book, uint64_t inode)
{
	uint64_t index;

	return sb_idmap_get(&book->by_inode, inode, &index) && book->namespaces[index].held &&
	       book->namespaces[index].whole;
}

/* Adds the namespace of an open file, reads it by its id, and holds the file while there is room.
 */
static int open_namespace(struct sb_nsbook *book, int *fd, const struct sb_task *task,
			  struct namespace **ret)
{
	struct sb_ns_identity identity;
	struct namespace *known, *ns;
	int r = sb_nsmount_identify(*fd, &identity);

	if (r < 0)
		return r;
	known = find_namespace(book, identity.inode);
	if (known && (known->held || (known->id && known->id == identity.id))) {
		*ret = known;
		return 0;
	}
	ns = add_namespace(book, &(struct namespace){.inode = identity.inode,
						     .id = identity.id,
						     .fd = *fd,
						     .shown_by = *task});
	if (!ns)
		return -ENOMEM;
	r = read_by_id(book, ns, task);
	if (book->fds_left > 0) {
		book->fds_left--;
		ns->held = true;
		sb_scope_take_fd(fd);
	} else {
		ns->fd = -1;
	}
	*ret = ns;
	return r;
}

/* The namespace of that number which the task's link just named; opened if it is not known. */
static int identify(struct sb_nsbook *book, const struct sb_task *task, uint64_t inode,
		    struct namespace **ret)
{
	struct namespace *ns = find_namespace(book, inode);
	sb_auto_close int fd = -1;
	char path[64];
	int r;

	if (ns && ns->held) {
		*ret = ns;
		return 0;
	}
	if (!book->options.is_procfs) {
		/* A test tree: its numbers name what it says, and nothing can be held. */
		*ret = add_namespace(
			book, &(struct namespace){
				      .inode = inode, .fd = -1, .held = true, .shown_by = *task});
		return *ret ? 0 : -ENOMEM;
	}
	snprintf(path, sizeof(path), "%s/ns/mnt", task->path);
	fd = openat(book->options.procfs, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = open_namespace(book, &fd, task, &ns);
	if (r < 0)
		return r;
	*ret = ns;
	return ns->inode == inode ? 0 : -EAGAIN;
}

static int remember_table(struct sb_nsbook *book, const struct sb_mount_table *parsed, bool whole,
			  const struct sb_task *task, char **text, size_t length)
{
	struct table *table = append(&book->tables, &book->table_count, sizeof(*table));

	if (!table)
		return -ENOMEM;
	*table = (struct table){.whole = whole, .shown_by = *task};
	table->ids = calloc(parsed->count + 1, sizeof(*table->ids));
	if (!table->ids)
		return -ENOMEM;
	for (size_t i = 0; i < parsed->count; i++)
		table->ids[table->id_count++] = parsed->item[i].id;
	table->text = *text;
	table->length = length;
	*text = NULL;
	return 0;
}

static struct table *find_table(struct sb_nsbook *book, const char *text, size_t length)
{
	for (size_t i = 0; i < book->table_count; i++)
		if (book->tables[i].length == length &&
		    memcmp(book->tables[i].text, text, length) == 0)
			return &book->tables[i];
	return NULL;
}

/* A task whose link is closed to us: its text has to say it all. Equal texts are parsed once. */
static int meet_unnamed(struct sb_nsbook *book, const struct sb_task *task)
{
	sb_auto_free char *text = NULL;
	struct sb_mount_table parsed = {0};
	uint64_t number;
	struct table *table;
	size_t length;
	bool still, whole;
	int r = read_text(book, task, &text, &length, &still);

	if (r < 0)
		return r;
	table = find_table(book, text, length);
	if (table) {
		number = SB_PINSET_UNNAMED | (uint64_t)(table - book->tables);
		/* That text was parsed and has a "/" line or not; this task's root may differ. */
		if (table->whole || table->id_count == 0)
			return sb_nsbook_note(book, task, number);
	}
	r = parse_text(book, task, text, length, &parsed);
	if (r < 0)
		return r;
	whole = still && shows_whole(book, &parsed, task);
	number = SB_PINSET_UNNAMED | (table ? (uint64_t)(table - book->tables) : book->table_count);
	if (table)
		table->whole = whole;
	else
		r = sb_pinset_absorb(book->pins, &parsed, number);
	if (r == 0 && !table)
		r = note_ns_lines(book, &parsed, is_own(book, -1, task), task);
	if (r == 0 && !table)
		r = remember_table(book, &parsed, whole, task, &text, length);
	sb_mount_table_free(&parsed);
	return r == 0 ? sb_nsbook_note(book, task, number) : r;
}

int sb_nsbook_meet(struct sb_nsbook *book, const struct sb_task *task)
{
	int r = -EAGAIN;

	for (int i = 0; i < CHASES_MOST && r == -EAGAIN; i++) {
		struct namespace *ns = NULL;
		uint64_t inode = 0;

		r = read_link(book, task, &inode);
		if (r == -EACCES || r == -EPERM)
			return meet_unnamed(book, task);
		if (r == 0)
			r = identify(book, task, inode, &ns);
		if (r == 0 && ns && !ns->whole)
			r = read_by_text(book, ns, task);
		if (r == 0)
			r = sb_nsbook_note(book, task, inode);
	}
	return r;
}

/* Reads what a line names, if it is not read yet and the file can be opened. */
static int follow_line(struct sb_nsbook *book, const struct ns_line *line)
{
	const struct namespace *known = find_namespace(book, line->inode);
	sb_auto_close int fd = -1;
	size_t count = book->namespace_count;
	struct namespace *ns = NULL;
	bool loses_both;
	int r;

	if (known && known->whole)
		return 0;
	fd = sb_nsfile_open(book->options.procfs, line->shown_by.path, line->point, line->inode);
	if (fd >= 0) {
		r = open_namespace(book, &fd, &line->shown_by, &ns);
		if (r < 0 || ns->whole)
			return r;
		ns->by_file = ns->by_file || book->namespace_count > count;
	}
	loses_both = line->own || is_target(book, 0);
	sb_proof_lose(book->proof, loses_both ? SB_LOSES_BOTH : SB_LOSES_COMPLETE, &line->shown_by,
		      "it sees a file that keeps mount namespace %llu, which nobody showed; "
		      "run as root on Linux 6.12 or newer",
		      (unsigned long long)line->inode);
	return 0;
}

/* How the ids of a table without a number stand to those of whole ones. */
static bool is_attributable(const struct sb_nsbook *book, const struct table *table,
			    enum sb_evidence *ret_weakest)
{
	*ret_weakest = SB_EVIDENCE_NAMESPACES;
	for (size_t i = 0; i < table->id_count; i++) {
		uint64_t evidence;

		/*
		 * Every id, though one would do by the rule: ids of mounts are reused, and a
		 * single one may be the newer mount of another namespace.
		 */
		if (!sb_idmap_get(&book->whole_ids, table->ids[i], &evidence))
			return false;
		if (evidence == SB_EVIDENCE_MOUNTINFO)
			*ret_weakest = SB_EVIDENCE_MOUNTINFO;
	}
	return table->id_count > 0;
}

static void weaken(struct sb_nsbook *book, enum sb_evidence evidence)
{
	if (evidence > book->proof->coverage.evidence)
		book->proof->coverage.evidence = evidence;
}

/* Whole tables first: each may be what a partial one belongs to. */
static int settle_tables(struct sb_nsbook *book, bool whole)
{
	for (size_t i = 0; i < book->table_count; i++) {
		struct table *table = &book->tables[i];
		enum sb_evidence weakest;

		if (table->whole != whole)
			continue;
		if (is_attributable(book, table, &weakest)) {
			weaken(book, weakest);
			continue;
		}
		if (!whole) {
			sb_proof_lose(book->proof, SB_LOSES_COMPLETE, &table->shown_by,
				      "its root shows only a part of its mounts, and its mount "
				      "namespace cannot be learnt; run as root");
			continue;
		}
		weaken(book, SB_EVIDENCE_MOUNTINFO);
		book->proof->coverage.namespaces++;
		for (size_t k = 0; k < table->id_count; k++)
			if (sb_idmap_put(&book->whole_ids, table->ids[k], SB_EVIDENCE_MOUNTINFO) <
			    0)
				return -ENOMEM;
	}
	return 0;
}

static void settle_namespaces(struct sb_nsbook *book)
{
	for (size_t i = 0; i < book->namespace_count; i++) {
		const struct namespace *ns = &book->namespaces[i];

		if (ns->whole) {
			book->proof->coverage.namespaces++;
			weaken(book, ns->by_text ? SB_EVIDENCE_MOUNTINFO : SB_EVIDENCE_NAMESPACES);
			continue;
		}
		if (ns->by_file)
			continue; /* told with the line that names it, and what that loses */
		sb_proof_lose(book->proof, SB_LOSES_BOTH, &ns->shown_by,
			      "no task shows the whole of its mount namespace %llu; run as root",
			      (unsigned long long)ns->inode);
	}
}

static int settle_holders(struct sb_nsbook *book)
{
	for (size_t i = 0; i < book->member_count; i++) {
		const struct member *member = &book->members[i];
		struct sb_holder holder = {
			.pid = member->task.pid, .tid = member->task.tid, .uid = member->task.uid};
		int r;

		if (!sb_pinset_has_namespace(book->pins, member->inode))
			continue;
		sb_proc_comm(book->options.procfs, member->task.path, holder.comm);
		r = sb_pinset_add_holder(book->pins, member->inode, &holder);
		if (r < 0)
			return r;
	}
	return 0;
}

int sb_nsbook_settle(struct sb_nsbook *book)
{
	int r = 0;

	if (book->proof->coverage.evidence == SB_EVIDENCE_AUTO)
		book->proof->coverage.evidence =
			book->options.text_only ? SB_EVIDENCE_MOUNTINFO : SB_EVIDENCE_NAMESPACES;
	/* What is read here may hold further lines: the count grows while they are followed. */
	for (size_t i = 0; r == 0 && i < book->line_count; i++) {
		const struct ns_line line = book->lines[i];

		r = follow_line(book, &line);
	}
	if (r == 0)
		r = settle_tables(book, true);
	if (r == 0)
		r = settle_tables(book, false);
	if (r < 0)
		return r;
	settle_namespaces(book);
	return settle_holders(book);
}

int sb_nsbook_new(const struct sb_nsbook_options *options, struct sb_pinset *pins,
		  struct sb_proof *proof, struct sb_nsbook **ret)
{
	struct sb_nsbook *book = calloc(1, sizeof(*book));
	struct rlimit limit;

	if (!book)
		return -ENOMEM;
	book->options = *options;
	book->pins = pins;
	book->proof = proof;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > FDS_RESERVED)
		book->fds_left = limit.rlim_cur - FDS_RESERVED;
	*ret = book;
	return 0;
}

void sb_nsbook_free(struct sb_nsbook *book)
{
	if (!book)
		return;
	for (size_t i = 0; i < book->namespace_count; i++)
		if (book->namespaces[i].fd >= 0)
			close(book->namespaces[i].fd);
	for (size_t i = 0; i < book->table_count; i++) {
		free(book->tables[i].text);
		free(book->tables[i].ids);
	}
	for (size_t i = 0; i < book->line_count; i++)
		free(book->lines[i].point);
	free(book->namespaces);
	free(book->tables);
	free(book->lines);
	free(book->members);
	sb_idmap_free(&book->by_inode);
	sb_idmap_free(&book->whole_ids);
	free(book);
}

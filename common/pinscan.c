#include "pinscan.h"

#include "clock.h"
#include "kernelwalk.h"
#include "scope.h"
#include "taskwalk.h"

#include <errno.h>
#include <fcntl.h>

struct sb_pinscan {
	struct sb_pinset pins;
	struct sb_pin_match match; /* what the set borrows must not outlive the options */
	struct sb_coverage coverage;
	const struct sb_pin **list;
	size_t list_count;
};

/*
 * A procfs that the user named may belong to another kernel's tasks, or be a test tree: our own
 * kernel is asked only when it is asked for.
 */
static bool wants_kernel(const struct sb_pinscan_options *options)
{
	return options->evidence == SB_EVIDENCE_KERNEL ||
	       (options->evidence == SB_EVIDENCE_AUTO && !options->procfs_given);
}

/* Each verdict stands on its own evidence: the better one counts, and its gaps are told. */
static void take_better(struct sb_coverage *held, struct sb_coverage *offered)
{
	if (offered->level >= held->level) {
		struct sb_coverage worse = *held;

		*held = *offered;
		*offered = worse;
	}
	sb_coverage_free(offered);
}

static int scan_kernel(struct sb_pinscan *scan, int procfs)
{
	struct sb_proof proof;
	int r;

	sb_proof_start(&proof, procfs);
	r = sb_kernelwalk_run(&scan->pins, &proof, procfs);
	sb_proof_finish(&proof);
	scan->coverage = proof.coverage;
	return r == -ENOMEM ? r : 0;
}

static int scan_tasks(struct sb_pinscan *scan, const struct sb_pinscan_options *options,
		      bool for_holders_only)
{
	struct sb_proof proof;
	int r;

	sb_proof_start(&proof, -1);
	r = sb_taskwalk_run(options, &scan->pins, &proof);
	/* It did not come to any: then it was the last one that there is. */
	if (proof.coverage.evidence == SB_EVIDENCE_AUTO)
		proof.coverage.evidence = SB_EVIDENCE_MOUNTINFO;
	sb_proof_finish(&proof);
	if (for_holders_only) {
		scan->coverage.tasks = proof.coverage.tasks;
		sb_coverage_free(&proof.coverage);
	} else {
		take_better(&scan->coverage, &proof.coverage);
	}
	return r;
}

static int scan_all(struct sb_pinscan *scan, const struct sb_pinscan_options *options)
{
	sb_auto_close int procfs = open(options->procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sb_auto_close int own = sb_nsmount_open_own(procfs);
	bool proven = false, only_kernel = options->evidence == SB_EVIDENCE_KERNEL;
	struct sb_ns_identity identity;
	int r = 0;

	if (own >= 0 && sb_nsmount_identify(own, &identity) == 0)
		scan->pins.own_namespace = identity.inode;
	if (wants_kernel(options)) {
		r = scan_kernel(scan, procfs);
		proven = scan->coverage.complete;
	}
	if (r == 0 && ((!proven && !only_kernel) || options->want_holders))
		r = scan_tasks(scan, options, proven || only_kernel);
	return r;
}

int sb_pinscan_run(const struct sb_pinscan_options *options, struct sb_pinscan **ret)
{
	struct sb_pinscan *scan = calloc(1, sizeof(*scan));
	uint64_t started = sb_clock_now();
	int r;

	if (!scan)
		return -ENOMEM;
	scan->match = options->match;
	scan->pins = (struct sb_pinset){.match = &scan->match,
					.devices = options->devices,
					.other_roots = options->other_roots,
					.device_count = options->device_count};
	r = scan_all(scan, options);
	if (r == 0) {
		sb_pinset_tidy(&scan->pins);
		r = sb_pinset_list(&scan->pins, &scan->list, &scan->list_count);
	}
	scan->coverage.elapsed_ns = sb_clock_now() - started;
	if (r < 0) {
		sb_pinscan_free(scan);
		return r;
	}
	*ret = scan;
	return 0;
}

void sb_pinscan_free(struct sb_pinscan *scan)
{
	if (!scan)
		return;
	sb_pinset_free(&scan->pins);
	sb_coverage_free(&scan->coverage);
	free(scan->list);
	free(scan);
}

const struct sb_coverage *sb_pinscan_coverage(const struct sb_pinscan *scan)
{
	return &scan->coverage;
}

const struct sb_pin *sb_pinscan_find(const struct sb_pinscan *scan, const char *name)
{
	return sb_pinset_find(&scan->pins, name);
}

const struct sb_pin *const *sb_pinscan_pins(const struct sb_pinscan *scan, size_t *ret_count)
{
	*ret_count = scan->list_count;
	return scan->list;
}

enum sb_evidence sb_pinscan_probe(void)
{
	sb_auto_close int procfs = open(SB_PROC_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sb_auto_close int own = sb_nsmount_open_own(procfs);
	struct sb_mount_table table = {0};
	struct sb_ns_identity identity;

	if (own < 0 || sb_nsmount_identify(own, &identity) < 0 || identity.id == 0 ||
	    sb_nsmount_read(own, identity.id, &table) < 0)
		return SB_EVIDENCE_MOUNTINFO;
	sb_mount_table_free(&table);
	return sb_kernelwalk_is_available(procfs) ? SB_EVIDENCE_KERNEL : SB_EVIDENCE_NAMESPACES;
}

/*
 * The kernel's ABI for reading mount namespaces, for systems whose headers do not know it yet:
 * listmount(2) and statmount(2) (Linux 6.8, with a namespace id since 6.11), and the ioctls of
 * namespace files (NS_MNT_GET_INFO, _NEXT and _PREV since 6.12). Names carry SB_ so that newer
 * headers do not clash.
 */
#ifndef SB_MNTABI_H
#define SB_MNTABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

/* System call numbers from 424 on are the same on every architecture (alpha adds 110). */
#ifdef __alpha__
#define SB_NR_STATMOUNT 567
#define SB_NR_LISTMOUNT 568
#else
#define SB_NR_STATMOUNT 457
#define SB_NR_LISTMOUNT 458
#endif

struct sb_mnt_ns_info {
	uint32_t size;
	uint32_t nr_mounts;
	uint64_t mnt_ns_id;
};

#define SB_NSIO		    0xb7
#define SB_NS_GET_USERNS    _IO(SB_NSIO, 0x1)
#define SB_NS_GET_OWNER_UID _IO(SB_NSIO, 0x4)
#define SB_NS_MNT_GET_INFO  _IOR(SB_NSIO, 10, struct sb_mnt_ns_info)
#define SB_NS_MNT_GET_NEXT  _IOR(SB_NSIO, 11, struct sb_mnt_ns_info)
#define SB_NS_MNT_GET_PREV  _IOR(SB_NSIO, 12, struct sb_mnt_ns_info)

/* Of a pidfd: its mount namespace, without any procfs (6.11). */
#define SB_PIDFD_GET_MNT_NAMESPACE _IO(0xff, 3)

struct sb_mnt_id_req {
	uint32_t size;
	uint32_t spare;
	uint64_t mnt_id;
	uint64_t param;
	uint64_t mnt_ns_id;
};

#define SB_LSMT_ROOT UINT64_MAX

#define SB_STATMOUNT_SB_BASIC  UINT64_C(0x01)
#define SB_STATMOUNT_MNT_BASIC UINT64_C(0x02)
#define SB_STATMOUNT_MNT_ROOT  UINT64_C(0x08)
#define SB_STATMOUNT_MNT_POINT UINT64_C(0x10)
#define SB_STATMOUNT_MNT_OPTS  UINT64_C(0x80)

struct sb_statmount {
	uint32_t size; /* of all, strings included */
	uint32_t mnt_opts;
	uint64_t mask; /* what was filled in */
	uint32_t sb_dev_major;
	uint32_t sb_dev_minor;
	uint64_t sb_magic;
	uint32_t sb_flags;
	uint32_t fs_type;
	uint64_t mnt_id; /* never reused */
	uint64_t mnt_parent_id;
	uint32_t mnt_id_old; /* as in mountinfo */
	uint32_t mnt_parent_id_old;
	uint64_t mnt_attr;
	uint64_t mnt_propagation;
	uint64_t mnt_peer_group;
	uint64_t mnt_master;
	uint64_t propagate_from;
	uint32_t mnt_root; /* offsets of NUL-terminated strings in str */
	uint32_t mnt_point;
	uint64_t rest[50];
	char str[];
};

_Static_assert(offsetof(struct sb_statmount, str) == 512, "statmount(2) has its strings at 512");
_Static_assert(offsetof(struct sb_statmount, mnt_root) == 104, "statmount(2) layout");

#endif

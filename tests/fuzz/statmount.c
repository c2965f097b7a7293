/* Buffers of statmount(2): whatever the kernel may say, nothing outside of its answer is read. */
#include "mntabi.h"
#include "nsmount.h"
#include "pinset.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *prefix = SB_NAMES_DEFAULT_PREFIX;
	const struct sb_pin_match match = {.prefixes = {&prefix, 1}};
	struct sb_pinset pins = {.match = &match};
	struct sb_mount_table table = {0};
	struct sb_statmount *answer = malloc(size ? size : 1);
	struct sb_mount mount;

	if (!answer)
		return 0;
	memcpy(answer, data, size);
	if (sb_nsmount_decode(answer, size, &mount) == 0 &&
	    sb_mount_table_add(&table, &mount) == 0 && sb_pinset_absorb(&pins, &table, 1) == 0)
		sb_pinset_tidy(&pins);
	sb_pinset_free(&pins);
	sb_mount_table_free(&table);
	free(answer);
	return 0;
}

/* mountinfo tables into the mount module, and on into the set of pins: any bytes, no crash, no
 * leak. */
#include "nsmount.h"
#include "pinset.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *prefix = SB_NAMES_DEFAULT_PREFIX;
	const struct sb_pin_match match = {.prefixes = {&prefix, 1}, .legacy = true};
	struct sb_pinset pins = {.match = &match};
	struct sb_mount_table table = {0};

	if (sb_nsmount_parse((const char *)data, size, &table) < 0)
		return 0;
	if (size && table.count == 0)
		__builtin_trap(); /* text that passed for a table without mounts would prove absence
				   */
	if (sb_pinset_absorb(&pins, &table, 1) == 0)
		sb_pinset_tidy(&pins);
	sb_pinset_free(&pins);
	sb_mount_table_free(&table);
	return 0;
}

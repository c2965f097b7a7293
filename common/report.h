/* What the commands print for machines: the JSON that all share. jansson does the text. */
#ifndef SB_REPORT_H
#define SB_REPORT_H

#include "cli.h"
#include "evidence.h"

#include <jansson.h>

#define SB_REPORT_SCHEMA 1

/*
 * A fresh object with tool, version, schema, host and uid (null for uid_given_as_null, which is
 * what --all-users means); with dry_run where the command has the option. NULL: no memory.
 */
json_t *sb_report_new(const struct sb_cli *cli, bool has_dry_run, bool uid_null);

/*
 * Sets key to a name from the file system: escaped when it is not clean text, and then with its
 * bytes in hexadecimal under "<key>_hex".
 */
int sb_report_set_name(json_t *object, const char *key, const char *bytes);

/* The coverage object of the contract; null for NULL, which is "no scan was made". */
json_t *sb_report_coverage(const struct sb_coverage *coverage);

/*
 * Adds elapsed_s and exit_status, writes the object as one line on stdout and frees it. Write
 * errors show when stdout is checked. -ENOMEM when it could not be made.
 */
int sb_report_print(json_t *report, const struct sb_cli *cli, enum sb_status status);

/* Seconds as JSON shows them: to the microsecond. */
json_t *sb_report_seconds(uint64_t ns);

#endif

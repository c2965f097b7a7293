# Completion of sb-pinscan for fish.
# The options here, in --help and in the manual are compared by make lint.
complete -c sb-pinscan -f
complete -c sb-pinscan -s p -l prefix -x -d 'Entries whose names start so'
complete -c sb-pinscan -l legacy -d 'Entries of the shape of mkdtemp'
complete -c sb-pinscan -s a -l all -d 'Every mount whose root is not /'
complete -c sb-pinscan -s H -l holders -d 'Tell who holds each'
complete -c sb-pinscan -l names -d 'Bare names, one a line'
complete -c sb-pinscan -l no-headings -d 'No first line'
complete -c sb-pinscan -s o -l output -x -a "(__fish_append , NAME USE NAMESPACES DELETED HOLDERS)" -d Columns
complete -c sb-pinscan -l require -x -a 'covered complete' -d 'The proof asked for'
complete -c sb-pinscan -l evidence -x -a 'auto kernel namespaces mountinfo' -d 'Where to look'
complete -c sb-pinscan -l trust-pidns -d 'The roots are private to this pid namespace'
complete -c sb-pinscan -s u -l uid -x -a '(__fish_complete_users)' -d 'Act for a user'
complete -c sb-pinscan -l procfs -x -a '(__fish_complete_directories)' -d 'Read processes from a directory'
complete -c sb-pinscan -s J -l json -d 'One JSON object on standard output'
complete -c sb-pinscan -s q -l quiet -d 'Warnings and errors only'
complete -c sb-pinscan -s v -l verbose -d 'Say more'
complete -c sb-pinscan -s '?' -l help -d 'Summary of the options'
complete -c sb-pinscan -l usage -d 'Shorter summary'
complete -c sb-pinscan -s V -l version -d 'Version, and the evidence that can be had here'

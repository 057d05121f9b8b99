#!/bin/sh
# Checks that a commit message begins with `<type>(<area>): <description>`. Written by placet.
# The same check runs again outside, on every commit: to skip this hook only means to hear of it later.
LC_ALL=C
export LC_ALL

types='@TYPES@'
letters='abcdefghijklmnopqrstuvwxyz0123456789'
tab=$(printf '\t')
return=$(printf '\r')

refuse() {
  {
    printf 'commit message refused: %s\n' "$1"
    printf '  form:    <type>(<area>): <description>   with a type of: %s\n' "$types"
    printf '  example: %s(api): say what it does now\n' "${types%% *}"
  } >&2
  exit 1
}

# The first line that is not empty, and the one after it. Comments and what follows the scissors are not part of the message.
first= second= lines=0
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    '# ------------------------ >8 ------------------------'*) break ;;
    '#'*) continue ;;
  esac
  while :; do
    case $line in
      *' ' | *"$tab" | *"$return") line=${line%?} ;;
      *) break ;;
    esac
  done
  case $lines in
    0) [ -z "$line" ] || { first=$line lines=1; } ;;
    *) second=$line; break ;;
  esac
done < "$1"

case $first in
  '') refuse 'it is empty' ;;
  'Merge '*) refuse 'a merge has no place on this branch; rebase instead' ;;
  'Revert "'* | 'Reapply "'*) refuse 'to take a commit back is a change like any other; name type and area' ;;
  'fixup! '* | 'squash! '* | 'amend! '*) refuse 'fold this commit into the one it belongs to' ;;
esac

type=${first%%[!$letters]*}
rest=${first#"$type"}
case " $types " in
  *" $type "*) ;;
  *) refuse 'it does not begin with one of the types' ;;
esac

case $rest in
  '('*')'*) rest=${rest#'('} ;;
  *) refuse 'the area in parentheses is missing' ;;
esac
area=${rest%%')'*}
rest=${rest#*')'}
case $area in
  '') refuse 'the area in parentheses is missing' ;;
  [!$letters]* | *[!$letters._/-]*)
    refuse 'the area may hold lowercase letters, digits, . _ / - and begins with a letter or digit' ;;
esac
[ "${#area}" -le 64 ] || refuse 'the area has more than 64 characters'

rest=${rest#'!'}
case $rest in
  ': '[!\ ]*) description=${rest#': '} ;;
  ':' | ': ') refuse 'the description is missing' ;;
  *) refuse 'a colon and one space must follow the area' ;;
esac
[ "$(printf %s "$description" | tr -d '\001-\037\177')" = "$description" ] || refuse 'the description holds a control character'
# Bytes that continue a character are not counted.
length=$(printf %s "$description" | tr -d '\200-\277' | wc -c)
[ "$((length))" -le 100 ] || refuse 'the description has more than 100 characters; move the rest into the body'
[ -z "$second" ] || refuse 'an empty line must stand between the first line and the body'
exit 0

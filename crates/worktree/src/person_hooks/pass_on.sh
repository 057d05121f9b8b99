#!/bin/sh
# Passes on to the person's own hook of this name. Written by placet.
# A relative path would lead into the checked-out tree, which an agent may have written: nothing of it is run.
hooks=$(git config --local --includes --type=path --get core.hooksPath) ||
  hooks=$(git config --global --includes --type=path --get core.hooksPath) ||
  hooks=$(git config --system --includes --type=path --get core.hooksPath) ||
  hooks=$(git rev-parse --path-format=absolute --git-common-dir)/hooks
case $hooks in
  /*) ;;
  *) exit 0 ;;
esac
hook=$hooks/${0##*/}
[ -x "$hook" ] || exit 0
exec "$hook" "$@"

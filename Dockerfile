# The API. `docker compose up` builds it; by itself:
#   docker build -t corkboard . && docker run -p 4000:4000 corkboard
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The optional packages are Node itself, which this image is.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24.21.0-bookworm-slim AS graphiql
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY src src
RUN npm run build:graphiql

FROM node:24.21.0-bookworm-slim
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=graphiql /app/build build
COPY package.json package-lock.json ./
COPY pins pins
COPY schema schema
COPY src src
COPY deploy/secret.mjs deploy/secret.mjs
# What the program writes: embedded data where no topology is given, the files of a
# fleet's member, and what Node compiled. A volume mounted there takes over the owner.
RUN mkdir -p data /var/lib/corkboard .cache \
	&& chown node:node data /var/lib/corkboard .cache
# The user `node`, by its number: where a container must not run as root, Kubernetes refuses a name.
USER 1000:1000
# Node keeps what it compiles, by user and by what the processor can do: each container starts with a third of the CPU,
# also if its files are read-only. So it serves once, with the thread of the admin address, until it says so.
RUN set -e; folder=$(mktemp -d); \
	export CORKBOARD_DATA=$folder/data CORKBOARD_DEMO=off CORKBOARD_ADMIN=127.0.0.1:0 PORT=0; \
	timeout 300 /bin/sh src/cli/node.sh src/cli/launch.mjs serve > $folder/log & \
	until grep -q serving $folder/log; do sleep 1; kill -0 $!; done; \
	kill $!; wait $!; rm -r $folder
ENV HOST=0.0.0.0
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s --retries=3 \
	CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 4000}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Variables that are already set take precedence over those in the file.
# node.sh adds V8's options to those of NODE_OPTIONS, which somebody may set, and becomes node itself.
ENTRYPOINT ["/bin/sh", "src/cli/node.sh", "--env-file-if-exists=/var/lib/corkboard/secret.env", "src/cli/launch.mjs"]
CMD ["serve"]

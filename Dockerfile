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
# Node keeps what it compiles, by user: each container starts with a third of the CPU, also if its files are read-only.
RUN CORKBOARD_DATA=/tmp/first CORKBOARD_DEMO=off CORKBOARD_ADMIN=127.0.0.1:9464 \
	timeout --preserve-status 20 /bin/sh src/cli/node.sh src/cli/launch.mjs serve && rm -r /tmp/first
ENV HOST=0.0.0.0
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s --retries=3 \
	CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 4000}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Variables that are already set take precedence over those in the file.
# node.sh adds V8's options to those of NODE_OPTIONS, which somebody may set, and becomes node itself.
ENTRYPOINT ["/bin/sh", "src/cli/node.sh", "--env-file-if-exists=/var/lib/corkboard/secret.env", "src/cli/launch.mjs"]
CMD ["serve"]

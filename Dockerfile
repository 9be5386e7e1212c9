# The API. `docker compose up` builds it; by itself:
#   docker build -t corkboard . && docker run -p 4000:4000 corkboard
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The packages that carry a Node are for machines without one; this image is one.
RUN npm ci --omit=dev --ignore-scripts \
	&& rm -rf node_modules/node-linux-* node_modules/.bin/node

FROM node:24.21.0-bookworm-slim
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json package-lock.json ./
COPY schema schema
COPY src src
COPY deploy/secret.mjs deploy/secret.mjs
# What it writes: GraphiQL's bundle, embedded data where no topology is given, and the
# state of a fleet's member. A volume mounted there takes over the owner.
RUN mkdir -p .cache data /var/lib/corkboard \
	&& chown node:node .cache data /var/lib/corkboard
USER node
ENV HOST=0.0.0.0
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s --retries=3 \
	CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 4000}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The variables in the file count where they are not set already.
ENTRYPOINT ["node", "--env-file-if-exists=/var/lib/corkboard/secret.env", "src/cli/launch.mjs"]
CMD ["serve"]

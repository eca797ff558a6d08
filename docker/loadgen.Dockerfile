# The load generator, the contract's checks and the agent of `pnpm bench --kubernetes`, for a container on the same network as the apps.
#   docker build --file docker/loadgen.Dockerfile --tag startgrid/loadgen .

# The first stages are the same in all Dockerfiles here: BuildKit runs each once for all images.
FROM node:26-trixie-slim AS workspace
# Node's image has had no Corepack since 25.
RUN npm install --global pnpm@12
# pnpm opens 64 connections at once. The name server of a small network then drops half of the lookups: 60 s instead of 1.5 s.
ENV CI=true PNPM_CONFIG_STORE_DIR=/pnpm PNPM_CONFIG_NETWORK_CONCURRENCY=16 TURBO_TELEMETRY_DISABLED=1
WORKDIR /startgrid

FROM workspace AS repository
COPY . .

# The page, its client files and their compressed siblings.
FROM repository AS shared
RUN --mount=type=cache,target=/pnpm pnpm dlx turbo@catalog: prune @startgrid/shared --docker

FROM workspace AS page
COPY --from=shared /startgrid/out/json/ .
RUN --mount=type=cache,target=/pnpm pnpm install --frozen-lockfile --filter @startgrid/shared
COPY --from=shared /startgrid/out/full/ .
# turbo prune omits this file, but Vite reads it.
COPY tsconfig.base.json .
RUN cd packages/shared && node_modules/.bin/vite build src/page

FROM repository AS pruned
RUN --mount=type=cache,target=/pnpm pnpm dlx turbo@catalog: prune @startgrid/loadgen @startgrid/conformance @startgrid/machine --docker

FROM workspace AS dependencies
COPY --from=pruned /startgrid/out/json/ .
# The optional dependency is Node, for machines without it; the image has its own.
RUN --mount=type=cache,target=/pnpm pnpm install --prod --no-optional --frozen-lockfile --filter @startgrid/loadgen... --filter @startgrid/conformance... --filter @startgrid/machine...

FROM node:26-trixie-slim
ENV NODE_ENV=production
WORKDIR /startgrid
COPY --from=dependencies /startgrid .
COPY --from=pruned /startgrid/out/full/packages packages
COPY --from=page /startgrid/packages/shared/dist packages/shared/dist
USER node
# Standard input takes one load per line, and standard output returns one result per line.
CMD ["node", "--no-memory-reducer", "packages/loadgen/src/engine/child.ts"]

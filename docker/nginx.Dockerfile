# NGINX in front of all apps with the landing page (target front), and the three apps inside an NGINX (target njs).
#   docker build --file docker/nginx.Dockerfile --target njs --tag startgrid/njs .

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
RUN --mount=type=cache,target=/pnpm pnpm dlx turbo@catalog: prune @startgrid/njs @startgrid/scripts --docker

FROM workspace AS configured
COPY --from=pruned /startgrid/out/json/ .
RUN --mount=type=cache,target=/pnpm pnpm install --frozen-lockfile --filter @startgrid/njs... --filter @startgrid/scripts --filter @startgrid/grid
COPY --from=pruned /startgrid/out/full/ .
COPY --from=page /startgrid/packages/shared/dist packages/shared/dist
# The other apps get these settings from their image and from docker-compose.yml. NGINX cannot read its environment.
ENV HOST=0.0.0.0 PORT=3000 TRUST_PROXY=10.0.0.0/8,172.16.0.0/12,192.168.0.0/16
RUN node apps/njs/build.ts && node apps/njs/runner/image.ts /conf/njs
RUN node scripts/front-image.ts /conf/front

FROM nginx:1.30 AS nginx
COPY nginx/conf /etc/nginx/startgrid
COPY docker/healthcheck.pl /usr/local/lib/
# The image's own entrypoint is a shell script that edits configuration files. Here they are read-only.
ENTRYPOINT []
USER nginx

FROM nginx AS njs
COPY --from=configured /startgrid/apps/njs/dist /startgrid/apps/njs/dist
COPY --from=configured /conf/njs /etc/nginx
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=3s --start-period=60s --start-interval=1s \
  CMD ["perl", "/usr/local/lib/healthcheck.pl", "3000", "/readyz"]
CMD ["nginx", "-e", "stderr", "-c", "/etc/nginx/hello.conf"]

FROM nginx AS front
COPY --from=configured /conf/front /etc/nginx
COPY --from=configured /conf/front/page /srv/page
COPY --from=page /startgrid/packages/shared/dist/assets /srv/assets
EXPOSE 8080 8443
# It makes a certificate.
ENTRYPOINT ["sh", "/etc/nginx/startgrid/start.sh"]
HEALTHCHECK --interval=30s --timeout=3s --start-period=60s --start-interval=1s \
  CMD ["perl", "/usr/local/lib/healthcheck.pl", "8080", "/ceiling"]
CMD ["nginx", "-e", "stderr"]

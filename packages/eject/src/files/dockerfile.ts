import type { Project } from '../project.ts'

/** The image of the service: only what it needs at run time, not as root. No `# syntax=` line, which would download one more image. */
export function dockerfile(project: Project): string {
  return `${listStages(project).join('\n\n')}\n`
}

function listStages(project: Project): string[] {
  switch (project.runtime) {
    case 'node':
      return serverStages(project, `node:${project.nodeVersion}-trixie-slim`, 'node')
    case 'bun':
      return serverStages(project, `oven/bun:${project.bunVersion}-slim`, 'bun')
    case 'nginx':
      return nginxStages(project)
  }
}

/** @param program also the name of the image's user */
function serverStages(project: Project, image: string, program: 'node' | 'bun'): string[] {
  const { nodeVersion, hasBuild } = project
  const ask = "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz')"
  return [
    `${program === 'bun' && project.lockfile ? "# The lockfile is npm's, so npm installs.\n" : ''}FROM node:${nodeVersion}-trixie-slim AS dependencies
WORKDIR /app
${install(project, ' --omit=dev')}`,
    ...(hasBuild ? [buildStage('dependencies', [run(installer(project))])] : []),
    `FROM ${image}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
${hasBuild ? 'COPY --from=build /app/dist dist\n' : ''}COPY package.json ./
COPY shared shared
COPY src src
USER ${program}
${running([program, '--eval', `${ask}.then((r) => process.exit(r.ok ? 0 : 1))`], [program, ...project.arguments, 'src/server.ts'])}`,
  ]
}

function nginxStages(project: Project): string[] {
  const { nodeVersion, nginxVersion } = project
  return [
    buildStage(`node:${nodeVersion}-trixie-slim`, [
      'WORKDIR /app',
      install(project),
      '# Written into the configuration: NGINX cannot read its environment.',
      'ENV HOST=0.0.0.0 PORT=3000',
    ]),
    `FROM nginx:${nginxVersion}
WORKDIR /app
# A tmpfs in the place of run/ takes on its mode.
RUN mkdir logs && ln -s /dev/stdout logs/access.log && mkdir --mode=1777 run
COPY --from=build /app/dist dist
# The image's own is a shell that fills in configuration; here nothing is left to fill in.
ENTRYPOINT []
USER nginx
${running(['curl', '--fail', '--silent', 'http://127.0.0.1:3000/readyz'], ['nginx', '-p', '/app', '-c', 'dist/nginx.conf', '-e', 'stderr'])}`,
  ]
}

function buildStage(from: string, before: readonly string[]): string {
  return [`FROM ${from} AS build`, ...before, 'COPY . .', 'RUN npm run build'].join('\n')
}

function install(project: Project, options = ''): string {
  const lockfile = project.lockfile ? 'package-lock.json ' : ''
  return `COPY package.json ${lockfile}./\n${run(installer(project) + options)}`
}

/** `npm ci` refuses to run without a lockfile. */
function installer({ lockfile }: Project): string {
  return lockfile ? 'npm ci' : 'npm install'
}

function run(command: string): string {
  return `RUN --mount=type=cache,target=/root/.npm ${command}`
}

/** Commands as lists of words, so that no shell is involved. */
function running(health: readonly string[], command: readonly string[]): string {
  return `EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=3s --start-period=30s --start-interval=1s \\
  CMD ${words(health)}
CMD ${words(command)}`
}

function words(list: readonly string[]): string {
  return `[${list.map((word) => JSON.stringify(word)).join(', ')}]`
}

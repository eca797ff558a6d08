import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { ci, dependabot } from '../src/files/ci.ts'
import { compose } from '../src/files/compose.ts'
import { dockerfile } from '../src/files/dockerfile.ts'
import { dockerignore } from '../src/files/dockerignore.ts'
import { gitignore } from '../src/files/gitignore.ts'
import { readme } from '../src/files/readme.ts'
import type { Project } from '../src/project.ts'

const page: Project = {
  name: '@acme/shop',
  description: 'A page',
  framework: 'fastify',
  health: 'app.health',
  role: 'ssr',
  runtime: 'node',
  hasBuild: true,
  nodeVersion: '26.10.0',
  bunVersion: '1.4.5',
  nginxVersion: '1.30.6',
  dependencies: {},
  devDependencies: {},
  scripts: { start: 's', dev: 'd', build: 'b', test: 't', typecheck: 'c', lint: 'l' },
  environment: [
    { name: 'PORT', default: '3000', meaning: 'port to listen on' },
    { name: 'LOG_LEVEL', default: 'info', meaning: 'how much is logged' },
    { name: 'MAX_QUEUE_WAIT_MS', default: '250', meaning: 'how long a page may wait' },
  ],
  routes: [{ method: 'GET', path: '/tea/:name', response: 'a cup' }],
  recipes: '### A cup',
  particular: '## Particular to cups',
  lockfile: true,
  arguments: [],
  sections: [],
}

const { build: _, ...unbuilt } = page.scripts
const bun: Project = {
  ...page,
  framework: 'bun',
  role: 'hello',
  runtime: 'bun',
  hasBuild: false,
  scripts: unbuilt,
  environment: page.environment.slice(0, 2),
}
const nginx: Project = {
  ...page,
  framework: 'njs',
  role: 'hello',
  runtime: 'nginx',
  hasBuild: false,
  environment: page.environment.slice(0, 1),
}

/** The instructions of a Dockerfile's last stage. */
function lastStage(text: string): string[] {
  return text.slice(text.lastIndexOf('\nFROM ') + 1).split('\n')
}

test('an image runs on its own runtime, not as root, without a shell or a package manager', () => {
  for (const [project, from, user, command] of [
    [page, 'FROM node:26.10.0-trixie-slim', 'USER node', 'CMD ["node", "src/server.ts"]'],
    [bun, 'FROM oven/bun:1.4.5-slim', 'USER bun', 'CMD ["bun", "src/server.ts"]'],
    [
      nginx,
      'FROM nginx:1.30.6',
      'USER nginx',
      'CMD ["nginx", "-p", "/app", "-c", "dist/nginx.conf", "-e", "stderr"]',
    ],
  ] as const) {
    const stage = lastStage(dockerfile(project))
    equal(stage[0], from)
    ok(stage.indexOf(user) > 0)
    // The last one before the empty line at the end.
    equal(stage.at(-2), command)
    equal(stage.filter((line) => /^ {2}CMD \["(?:node|bun|curl)", /.test(line)).length, 1)
    // Of these images, only NGINX's has curl.
    doesNotMatch(stage.join('\n'), project === nginx ? /npm|\bsh\b/ : /npm|curl|\bsh\b/)
  }
})

test('an image has what was built only where something is', () => {
  match(dockerfile(page), /^FROM dependencies AS build\nRUN .*npm ci\nCOPY \. \.\nRUN npm run build$/m)
  match(dockerfile(page), /^COPY --from=build \/app\/dist dist$/m)
  doesNotMatch(dockerfile(bun), /build/)
})

test('a container may do nothing that it need not, and is reached from this machine only', () => {
  for (const project of [page, bun, nginx]) {
    const { app } = parse(compose(project)).services
    deepEqual(
      [app.read_only, app.init, app.restart, app.cap_drop, app.security_opt],
      [true, true, 'on-failure', ['ALL'], ['no-new-privileges:true']],
    )
    match(app.mem_limit, /^\d+m$/)
    deepEqual(app.logging, { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '3' } })
    match(app.ports.join(), /^127\.0\.0\.1:[^,]+:3000$/)
    deepEqual(app.tmpfs, project === nginx ? ['/app/run'] : undefined)
  }
  deepEqual(parse(compose(page)).services.app.environment, ['LOG_LEVEL', 'MAX_QUEUE_WAIT_MS'])
  equal('environment' in parse(compose(nginx)).services.app, false)
})

test('CI may only read, and runs all checks there are, with what is built before the tests', () => {
  const steps = (project: Project) =>
    parse(ci(project)).jobs.check.steps.flatMap(({ run }: { run?: string }) =>
      run === undefined ? [] : [run],
    )
  const image = ['docker compose up --build --wait', 'docker compose down']
  const checks = ['npm ci', 'npm run lint', 'npm run typecheck']
  deepEqual(steps(page), [...checks, 'npm run build', 'npm test', ...image])
  deepEqual(steps(bun), [...checks, 'npm test', ...image])
  deepEqual(parse(ci(page)).permissions, { contents: 'read' })
})

test('without a lockfile nothing asks for one', () => {
  for (const project of [page, bun, nginx]) {
    const texts = [dockerfile, ci, (own: Project) => readme(own)].map((write) =>
      write({ ...project, lockfile: false }),
    )
    for (const text of texts) {
      doesNotMatch(text, /npm ci|lock\.json|cache: npm|lockfile/)
      match(text, /npm install/)
    }
  }
})

test('what others make is pinned, and Dependabot keeps it fresh', () => {
  for (const project of [page, bun, nginx]) {
    const images = [...dockerfile(project).matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image)
    for (const image of images) match(image, /^(?:[\w/]+:\d+\.\d+\.\d+(?:-[a-z-]+)?|dependencies)$/)
    const actions = parse(ci(project)).jobs.check.steps.flatMap(({ uses }: { uses?: string }) => uses ?? [])
    deepEqual(
      actions.filter((action: string) => !/^[\w/-]+@[\da-f]{40}$/.test(action)),
      [],
    )
    ok(actions.length > 0)
  }
  const { updates } = parse(dependabot()) as { updates: { 'package-ecosystem': string }[] }
  deepEqual(
    updates.map((update) => update['package-ecosystem']),
    ['npm', 'docker', 'github-actions'],
  )
})

test('neither git nor an image takes in secrets and what was made here', () => {
  for (const write of [gitignore, dockerignore]) {
    const lines = (project: Project) => new Set(write(project).trim().split('\n'))
    for (const project of [page, bun, nginx])
      ok(lines(project).has('node_modules') && lines(project).has('.env*'))
    deepEqual(
      [page, bun, nginx].map((project) => lines(project).has('dist')),
      [true, false, true],
    )
    ok(lines(nginx).has('run') && lines(nginx).has('logs'))
  }
  ok(dockerignore(page).startsWith('.git\n'))
})

test('a README tells of every route, setting and command, and of nothing that is not there', () => {
  for (const project of [page, bun, nginx]) {
    const text = readme(project)
    for (const { method, path, response } of project.routes)
      ok(text.replaceAll(/ +/g, ' ').includes(`| \`${method} ${path}\` | ${response} |`))
    for (const { name, meaning } of project.environment) match(text, new RegExp(`\`${name}\` .*${meaning}`))
    for (const name of ['dev', 'typecheck', 'lint']) ok(text.includes(`npm run ${name}`))
    ok(text.includes(project.recipes) && text.includes(project.particular))
    ok(text.split('\n').length <= 86)
    equal(text.includes('MAX_QUEUE_WAIT_MS'), project === page)
    equal(text.includes('src/server.ts'), project !== nginx)
    equal(text.includes('nginx.conf.template'), project === nginx)
    equal(text.includes('src/page/'), project === page)
  }
})

import type { Option } from './option.ts'

const TEMPLATES = 'packages/eject/src/options/templates'

/** Its package is not on the registry, so a project has it as a file. npx runs that: what is no dependency changes no image and no lockfile. */
export const bench: Option = {
  name: 'bench',
  title: 'A race on every pull request',
  describe({ role, runtime }, read) {
    if (runtime === 'nginx')
      return 'A runner has no NGINX with njs: race the image by hand, or choose an app on Node or Bun.'
    const { version } = JSON.parse(read('packages/startgrid/package.json')) as { version: string }
    const tarball = `startgrid-${version}.tgz`
    const template = (name: string) =>
      read(`${TEMPLATES}/${name}.template`).replaceAll('STARTGRID.tgz', tarball)
    return {
      files: {
        '.github/workflows/race.yml': template('race.yml'),
        '.github/workflows/race-comment.yml': template('race-comment.yml'),
        'bench/race.sh': role === 'ssr' ? template('race.sh') : template('race.sh').replace(SHED, ''),
        'bench/comment.sh': read('action/comment.sh'),
        'bench/.gitignore': 'results/\n',
      },
      scripts: { bench: `npx --yes --package=./bench/${tarball} startgrid race` },
      tool: `bench/${tarball}`,
      readme: README,
    }
  },
}

/** Only pages are refused. */
const SHED = /^# A page .*\nexport MAX_QUEUE_WAIT_MS=.*\n/m

const README = `\`npm run bench -- --git main\` says whether this directory is slower than \`main\`: requests per second, CPU per request, latency, start-up and memory, with
intervals. Add \`--path /hello/x\` for a route, and commands to race something else: \`npm run bench -- 'node a.js' 'node b.js'\`. \`--help\` has all
options.

\`.github/workflows/race.yml\` does this on every pull request, and \`race-comment.yml\` writes the result into a comment. The first one runs the code of the
pull request, with a token that can only read. The second one runs only what is on the default branch, so a comment appears once this is merged. Runners are shared: differences under
about 5 % are seldom found there.`

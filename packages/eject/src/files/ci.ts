import type { Project } from '../project.ts'

/** All checks before a merge, including the image. */
export function ci({ nodeVersion, scripts, lockfile }: Project): string {
  // The build comes before the tests, because they may read its output.
  const run = ['lint', 'typecheck', 'build', 'test'].filter((name) => scripts[name] !== undefined)
  const [major] = nodeVersion.split('.')
  return `name: CI

on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  check:
    runs-on: ubuntu-24.04
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      - uses: actions/setup-node@820762786026740c76f36085b0efc47a31fe5020 # v7.0.0
        with:
          node-version: ${major}
${lockfile ? '          cache: npm\n      - run: npm ci' : '      - run: npm install'}
${run.map((name) => `      - run: npm ${name === 'test' ? name : `run ${name}`}\n`).join('')}      # Ends with an error unless the container starts and says that it is ready.
      - run: docker compose up --build --wait
      - run: docker compose down
`
}

/** Weekly updates. Small ones come as one pull request, so that the tests run once; a week gives others time to find a malicious release. */
export function dependabot(): string {
  const entries = ['npm', 'docker', 'github-actions'].map(
    (ecosystem) => `  - package-ecosystem: ${ecosystem}
    directory: /
    schedule:
      interval: weekly
    cooldown:
      default-days: 7
    groups:
      minor:
        update-types: [minor, patch]
`,
  )
  return `version: 2\nupdates:\n${entries.join('')}`
}

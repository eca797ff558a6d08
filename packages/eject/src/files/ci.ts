import type { Project } from '../project.ts'

/** All checks before a merge, including the image. */
export function ci({ nodeVersion, scripts }: Project): string {
  // The build comes before the tests, because they may read its output.
  const run = ['lint', 'typecheck', 'build', 'test'].filter((name) => scripts[name] !== undefined)
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
      - uses: actions/checkout@v7
        with:
          persist-credentials: false
      - uses: actions/setup-node@v7
        with:
          node-version: ${nodeVersion}
      - run: npm install
${run.map((name) => `      - run: npm ${name === 'test' ? name : `run ${name}`}\n`).join('')}      # Ends with an error unless the container starts and says that it is ready.
      - run: docker compose up --build --wait
      - run: docker compose down
`
}

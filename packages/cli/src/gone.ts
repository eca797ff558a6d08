/** Commands and options that went in November 2026, and what to use now. This table goes in November 2027. */
const GONE: Readonly<Record<string, string>> = {
  'pnpm conformance --kubernetes': 'deploy/kubernetes/bench has a Job that runs any command in the cluster',
  'pnpm conformance --seed': 'it sends the same requests every time',
  'pnpm conformance --runs': 'it sends the same requests every time',
  'pnpm conformance --manners': 'docs/choosing-a-framework.md lists what differs between frameworks',
  '--with metrics': 'choose --with telemetry and set OTEL_METRICS_EXPORTER=prometheus',
  '--with bench': 'race pull requests with the action of this repository, action/README.md',
  // 'pnpm bench --resume': 'begin the run again; pnpm bench report DIR reports what was measured',
  'pnpm reliability --kubernetes':
    'run kubectl rollout restart while pnpm load sends requests to the Service',
}

/**
 * What to do instead of something that is gone, as a sentence; undefined if it never was.
 * @param typed a command as a person types it, with the option if it is one, such as `pnpm bench --resume`
 */
export function insteadOf(typed: string): string | undefined {
  const instead = GONE[typed]
  return instead === undefined ? undefined : `${typed} is gone: ${instead}.`
}

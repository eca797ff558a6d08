import type { GeneratorOptions } from '@startgrid/loadgen'
import { type DockerRun, labelOptions } from './run.ts'

/** The load generator, and the contract's suite: docker/loadgen.Dockerfile. */
export const GENERATOR_IMAGE = 'startgrid/loadgen'

/** The service of docker-compose.yml that builds it. */
export const GENERATOR_SERVICE = 'loadgen'

/**
 * How the generator is started as a container beside the servers. It ends with its standard input, so also with this process, and is
 * removed then.
 * @param cpu the only core that it may use
 */
export function generatorIn(run: DockerRun, cpu: number | undefined): GeneratorOptions {
  return {
    reach: 'network',
    command: [
      ...(['docker', 'run', '--rm', '--interactive', '--init', '--pull', 'never'] as const),
      ...['--name', run.generator, '--network', run.name, ...labelOptions(run)],
      ...['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
      ...(cpu === undefined ? [] : ['--cpuset-cpus', String(cpu)]),
      GENERATOR_IMAGE,
    ],
  }
}

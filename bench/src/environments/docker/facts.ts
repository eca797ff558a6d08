import { imageOn } from '@startgrid/grid/apps.ts'
import { readMachine } from '@startgrid/machine/machine.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import type { Environment } from '../environment.ts'
import { docker } from './command.ts'
import { type EngineInfo, runsHere } from './engine.ts'
import { GENERATOR_SERVICE } from './generator.ts'
import { type Images, variableOf } from './images.ts'

/** What a result says of containers otherwise than of processes: the engine's machine, and the versions in the images. */

export async function describeContainers(info: EngineInfo, images: Images): Promise<Environment['facts']> {
  const [machine, versions] = [readMachine(), readVersions()]
  const bun = imageOn('bun', images)
  return {
    machine: {
      ...machine,
      cores: info.NCPU,
      memoryBytes: info.MemTotal,
      os: `Docker Engine ${info.ServerVersion} on ${info.OperatingSystem}`,
      kernel: `Linux ${info.KernelVersion} ${info.Architecture}`,
      governor: runsHere(info) ? machine.governor : null,
    },
    versions: {
      ...versions,
      // The official images of Node and NGINX say so; Bun's does not.
      node: variableOf(images.get(GENERATOR_SERVICE), 'NODE_VERSION') ?? 'unknown',
      bun: bun === undefined ? versions.bun : await ask(bun, 'bun', '--version'),
    },
  }
}

/** `qjs`, or `njs` for the old one: what the image's configuration chooses. */
export async function findNjsEngine(images: Images): Promise<string> {
  const image = imageOn('nginx', images) ?? ''
  const chosen = await ask(image, 'sed', '-n', 's/^ *js_engine \\(.*\\);/\\1/p', '/etc/nginx/hello.conf')
  return chosen === '' ? 'njs' : chosen
}

/** What a program in an image of the grid prints. */
async function ask(image: string, program: string, ...args: string[]): Promise<string> {
  const words = ['run', '--rm', '--pull', 'never', '--network', 'none', '--entrypoint', program]
  return (await docker([...words, `startgrid/${image}`, ...args])).trim()
}

import type { Launch, Target } from '@startgrid/grid/launcher.ts'
import type { Instance } from '@startgrid/nginx/instance.ts'
import type { Subject } from './subject.ts'

/** An NGINX in front of an app, and where it listens. @param accessLog as for `Subject.front` */
export async function frontOf(
  subject: Subject,
  { target: upstream }: Launch,
  accessLog?: string,
): Promise<{ instance: Instance; target: Target }> {
  const listen = { host: '127.0.0.1', port: 0 }
  const instance = await subject.front([{ name: 'app', topology: 'nginx', listen, upstream }], 1, accessLog)
  const [target] = instance.addresses
  if (target === undefined) throw new Error('NGINX says no address.')
  return { instance, target }
}

/** A process to be killed: `node parent.ts CHOICE` starts an NGINX, prints its process ids, and waits. */
import { requireNginx } from '../../src/find/find.ts'
import { startNginx } from '../../src/run/instance.ts'

const nginx = await requireNginx({ download: false })
const listen = { host: '127.0.0.1', port: 0 }
const instance = await startNginx(nginx, {
  fronts: [{ name: 'app', topology: 'nginx', listen, upstream: { host: '127.0.0.1', port: 9 } }],
})
console.log(JSON.stringify({ pids: instance.pids(), dir: instance.dir }))

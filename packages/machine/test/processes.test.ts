import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { cpuSeconds, listenersOf, peakMemory, processTree, serverPids } from '../src/processes.ts'

const skip =
  process.platform === 'linux' ? false : 'only Linux has /proc: on this system no figures are shown'

describe('what the kernel counts', { skip }, () => {
  test('CPU seconds grow by what is burnt', () => {
    const before = cpuSeconds([process.pid])
    const used = process.cpuUsage()
    while (process.cpuUsage(used).user < 300_000) Math.sqrt(2)
    const after = cpuSeconds([process.pid])
    assert.ok(before !== undefined && after !== undefined)
    assert.ok(after - before > 0.25, `${after - before} s`)
  })

  test('peak memory is what this process knows of itself, and does not fall', () => {
    const peak = peakMemory([process.pid]) ?? 0
    assert.ok(peak >= process.memoryUsage.rss() * 0.9, `${peak}`)
    const large = Buffer.alloc(100e6, 1)
    assert.ok((peakMemory([process.pid]) ?? 0) > large.length)
  })

  test('the tree of a process has its children and theirs; what starts an NGINX does not serve itself', async () => {
    const child = spawn('sh', ['-c', 'sleep 60 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [grandchild] = await once(child.stdout, 'data')
    try {
      const tree = processTree(process.pid)
      for (const pid of [process.pid, child.pid, Number(grandchild)])
        assert.ok(tree.includes(pid ?? 0), `${pid} in ${tree}`)
      const ready = { pid: child.pid ?? 0 }
      assert.deepEqual(serverPids({ ready }), [child.pid, Number(grandchild)])
      assert.deepEqual(serverPids({ ready: { ...ready, nginx: '1.30.3' } }), [Number(grandchild)])
    } finally {
      process.kill(Number(grandchild))
      await once(child, 'exit')
    }
    assert.deepEqual(processTree(child.pid ?? 0), [child.pid])
  })

  test('who listens on a port is found, who is only connected is not', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    assert.deepEqual(listenersOf({ host: '127.0.0.1', port }), [process.pid])
    const connection = connect(port, '127.0.0.1')
    const [accepted] = await once(server, 'connection')
    server.close()
    assert.deepEqual(listenersOf({ host: '127.0.0.1', port }), [])
    connection.destroy()
    accepted.destroy()
  })
})

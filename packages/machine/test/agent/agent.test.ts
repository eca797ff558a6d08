import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findContainers, throttlingOf } from '../../src/agent/containers.ts'
import type { FromAgent, ToAgent } from '../../src/agent/messages.ts'
import { createTree } from '../kernel-tree.ts'

const PROGRAM = fileURLToPath(new URL('../../src/agent/program.ts', import.meta.url))
const [ONE, TWO] = ['a1'.repeat(32), 'b2'.repeat(32)]

describe('the processes of containers', () => {
  const files = {
    // Version 1: the path of each controller.
    'proc/1/cgroup': '4:cpu,cpuacct:/kubepods/besteffort/pod1/pause\n',
    'proc/21/cgroup': `4:cpu,cpuacct:/kubepods/burstable/pod1/${ONE}\n3:memory:/kubepods/burstable/pod1/${ONE}\n`,
    'proc/104/cgroup': `4:cpu,cpuacct:/kubepods/burstable/pod1/${ONE}\n`,
    // Version 2, from another control group.
    'proc/33/cgroup': `0::/../cri-containerd-${TWO}.scope\n`,
    'proc/33/root/sys/fs/cgroup/cpu.stat': 'usage_usec 7\nnr_throttled 1\nthrottled_usec 1500\n',
    'proc/self/cgroup': `0::/${TWO}\n`,
  }

  test('are found by the ids in their control groups, of either version', (context) => {
    const found = findContainers({ one: ONE, two: TWO, three: 'c3'.repeat(32) }, createTree(files, context))
    assert.deepEqual(
      [...found],
      [
        ['one', 21],
        ['two', 33],
      ],
    )
  })

  test('show the throttling of their control group in their own file system', (context) => {
    const root = createTree(files, context)
    assert.deepEqual(throttlingOf(33, root), { times: 1, seconds: 0.0015 })
    assert.equal(throttlingOf(21, root), undefined)
  })
})

describe('the agent', { skip: process.platform !== 'linux' && 'it reads /proc' }, () => {
  function start() {
    const child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const read = async () => JSON.parse((await lines.next()).value ?? '{}') as FromAgent
    const ask = (question: ToAgent) => {
      child.stdin.write(`${JSON.stringify(question)}\n`)
      return read()
    }
    return { ask, read, [Symbol.dispose]: () => child.stdin.end() }
  }

  test('says what it sees of its machine, and how long connections take', async () => {
    using agent = start()
    assert.deepEqual(await agent.read(), { ready: true })
    const seen = await agent.ask({ look: true })
    assert.ok('node' in seen && seen.node.cpus.length > 0)
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const response = await agent.ask({ connect: { host: '127.0.0.1', port, times: 3 } })
    server.close()
    assert.ok('connected' in response)
    assert.equal(response.connected.length, 3)
  })

  test('says which containers it does not see, and does not guess their accounts', async () => {
    using agent = start()
    await agent.read()
    assert.deepEqual(await agent.ask({ watch: { app: ONE } }), { unseen: ['app'] })
    assert.deepEqual(await agent.ask({ end: true }), { error: 'No account was begun.' })
    assert.deepEqual(await agent.ask({ begin: { app: 'app', proxy: null } }), { begun: true })
    const ended = await agent.ask({ end: true })
    assert.ok('account' in ended)
    assert.equal(ended.account.app, null)
    assert.deepEqual(await agent.ask({ memory: ['app'] }), { memory: { app: null } })
  })
})

import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AppOptions } from '../src/app-options.ts'
import type { Problem } from '../src/problem.ts'
import { createOptions, ERROR, type Start } from '../src/testing/app.ts'

/** The folder of a server's programs, such as `/usr/lib/postgresql/15/bin`. Without it, the recipe is not asked. */
const { TEST_POSTGRES: programs } = process.env

/** Postgres refuses to run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** @param start an app with the recipe */
export function testPostgres(
  start: (options: AppOptions, settings: { DATABASE_URL: string }) => ReturnType<Start>,
): void {
  if (programs === undefined) return

  test('postgres: an order that cannot be filled is rolled back, and a lost connection is a failure of one request only', async () => {
    const server = await startPostgres(programs)
    const options = createOptions()
    await using app = await start(options, { DATABASE_URL: server.url })
    const read = (path: string) => fetch(app.url + path)
    const untilReadyIs = async (wanted: number) => {
      const limit = AbortSignal.timeout(60_000)
      for (; (await read('/readyz')).status !== wanted; limit.throwIfAborted()) await sleep(50)
    }
    const order = (grams: number, type = 'application/json') => {
      const body = JSON.stringify({ tea: 1, grams })
      return fetch(`${app.url}/orders`, { method: 'POST', headers: { 'content-type': type }, body })
    }
    await untilReadyIs(200) // it has migrated
    const placed = await order(600)
    deepEqual([placed.status, placed.headers.get('location')], [201, '/orders/1'])
    deepEqual(await (await read('/orders/1')).json(), { id: 1, tea: 1, grams: 600 })
    const refused = await order(600)
    equal(refused.status, 409)
    equal(((await refused.json()) as Problem).detail, 'There is too little of this tea.')
    for (const id of ['2', 'x']) equal((await read(`/orders/${id}`)).status, 404)
    equal((await order(0)).status, 400)
    equal((await order(1, 'text/plain')).status, 415)
    // Another transaction holds the row, and ends the connection of who waits for it amid a transaction of its own.
    const ends = server.cutWaiting()
    await ends.begun
    equal((await order(100)).status, 500)
    await ends.exited
    equal(server.query('select count(*) from orders'), '1')
    equal((await read('/orders/1')).status, 200)

    const all = await Promise.all([...Array(25)].map(() => order(100))) // more than the pool has connections
    deepEqual(all.filter(({ status }) => status === 201).length, 4)
    equal(server.query('select sum(grams), count(*) from orders'), '1000|5')

    await server.stop()
    await untilReadyIs(503)
    equal((await read('/orders/1')).status, 500)
    await server.start()
    await untilReadyIs(200)
    equal((await read('/orders/1')).status, 200)
    const failed = (await options.readLines(0)).filter(({ level }) => level === ERROR)
    match(JSON.stringify(failed), /terminating connection/)
    equal(server.query('select string_agg(name, chr(32)) from migrations'), '0001-teas.sql 0002-orders.sql')
    await options.lifecycle.close()
    equal((await read('/orders/1')).status, 500) // it is closed
  })
}

const CUT_WAITING = `begin;
  update teas set grams = 100;
  \\echo begun
  do $$ begin
    loop
      perform pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock';
      exit when found;
      perform pg_sleep(0.01), pg_stat_clear_snapshot();
    end loop;
  end $$;
  rollback;`

/** A server of its own in a folder for a while. Its programs read where it is from their environment. */
async function startPostgres(programs: string) {
  const directory = mkdtempSync(join(tmpdir(), 'postgres-'))
  if (NOBODY.uid) chownSync(directory, NOBODY.uid, NOBODY.gid)
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address() as AddressInfo
  free.close()
  const place = { PGDATA: join(directory, 'data'), PGHOST: directory, PGPORT: String(port) }
  const own = { ...place, PGUSER: 'app', PGDATABASE: 'postgres' }
  const options = { ...NOBODY, cwd: directory, env: { ...process.env, ...own } }
  const run = (program: string, ...words: string[]) => {
    const how = { ...options, encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync(join(programs, program), words, how)
    equal(status, 0, stderr)
    return stdout.trim()
  }
  const settings = `-k ${directory} -c listen_addresses=127.0.0.1 -c fsync=off`
  const start = () => run('pg_ctl', 'start', '--wait', `--log=${directory}/log`, `--options=${settings}`)
  const stop = () => run('pg_ctl', 'stop', '--mode=immediate')
  const psql = ['--no-psqlrc', '--tuples-only', '--no-align', '--quiet']
  run('initdb', '--auth=trust', '--username=app', '--no-sync', '--encoding=UTF8', '--locale=C')
  start()
  after(() => {
    stop()
    rmSync(directory, { recursive: true })
  })
  return {
    url: `postgres://app@127.0.0.1:${port}/postgres`,
    start,
    stop,
    query: (sql: string) => run('psql', ...psql, `--command=${sql}`),
    cutWaiting() {
      const client = spawn(join(programs, 'psql'), psql, { ...options, stdio: ['pipe', 'pipe', 'inherit'] })
      client.stdin.end(CUT_WAITING)
      return { begun: once(client.stdout, 'data'), exited: once(client, 'exit') }
    },
  }
}

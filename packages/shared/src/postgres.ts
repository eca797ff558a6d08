import { readdirSync, readFileSync } from 'node:fs'
import type { AppOptions } from './app-options.ts'

/** What the recipe uses of `pg`, which it installs. */
interface Client {
  query(sql: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
  release(error?: Error): void
}

export interface Pool extends Pick<Client, 'query'> {
  connect(): Promise<Client>
  end(): Promise<void>
  on(
    event: 'connect',
    listener: (client: { on(event: 'error', listener: (err: Error) => void): unknown }) => void,
  ): unknown
  on(event: 'error', listener: () => void): unknown
}

interface Options extends Pick<AppOptions, 'lifecycle'> {
  log: { warn(fields: object, message: string): void }
}

/** Files such as `0001-teas.sql`, in the order of their names. A file that has run once is not changed any more. */
const MIGRATIONS = new URL('../migrations/', import.meta.url)

/** For `new Pool()`. Milliseconds, less than HANDLER_TIMEOUT_MS. */
export const poolOptions = (connectionString: string) => ({
  connectionString,
  max: 10,
  connectionTimeoutMillis: 2_000,
  statement_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
})

/** Migrates the database as soon as it is there, makes it a condition of readiness, and closes the pool after the last response. */
export function servePool(pool: Pool, { lifecycle, log }: Options): void {
  // Without these listeners, a connection that is lost would end the process, also amid a transaction.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', (err) => log.warn({ err }, 'lost a connection of the database'))
  })
  let migrated: Promise<void> | undefined
  const check = async () => {
    migrated ??= migrate(pool).catch((error) => {
      migrated = undefined // the next check tries again
      throw error
    })
    await migrated
    await pool.query('select 1')
  }
  lifecycle.addCheck('postgres', check)
  lifecycle.onClose(() => pool.end())
  check().catch((err) => log.warn({ err }, 'not ready'))
}

/** Runs `work` on one client, in a transaction. What it throws rolls back. */
export async function transact<Result>(pool: Pool, work: (client: Client) => Promise<Result>) {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    const release = () => client.release()
    await client.query('rollback').then(release, (lost: Error) => client.release(lost)) // then the pool drops it
    throw error
  }
}

async function migrate(pool: Pool): Promise<void> {
  await transact(pool, async (client) => {
    await client.query('set local statement_timeout = 0')
    // If several processes start at once, one migrates and the others wait for it.
    await client.query("select pg_advisory_xact_lock(hashtext('migrations'))")
    await client.query(
      'create table if not exists migrations (name text primary key, at timestamptz default now())',
    )
    const { rows } = await client.query('select name from migrations')
    const done = rows.map(({ name }) => name)
    for (const name of readdirSync(MIGRATIONS).sort()) {
      if (done.includes(name)) continue
      await client.query(readFileSync(new URL(name, MIGRATIONS), 'utf8'))
      await client.query('insert into migrations (name) values ($1)', [name])
    }
  })
}

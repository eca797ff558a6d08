import { readdirSync, readFileSync } from 'node:fs'
import { z } from 'zod'
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
async function transact<Result>(pool: Pool, work: (client: Client) => Promise<Result>) {
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

export const NewOrder = z.object({ tea: z.int32().min(1), grams: z.int().min(1).max(100_000) })

/** Notes an order and takes it from the stock, or neither. @returns its id @throws 409 if there is too little */
export function placeOrder(pool: Pool, { tea, grams }: z.infer<typeof NewOrder>): Promise<unknown> {
  return transact(pool, async (client) => {
    const note = 'insert into orders (tea, grams) values ($1, $2) returning id'
    const noted = await client.query(note, [tea, grams])
    const take = 'update teas set grams = grams - $2 where id = $1 and grams >= $2 returning id'
    const taken = await client.query(take, [tea, grams])
    if (taken.rows.length === 0)
      throw Object.assign(new Error('There is too little of this tea.'), { expose: true, status: 409 })
    return noted.rows[0]?.id
  })
}

/** @returns undefined if there is none */
export async function findOrder(pool: Pool, id: string) {
  if (!/^\d{1,9}$/.test(id)) return undefined
  const { rows } = await pool.query('select id, tea, grams from orders where id = $1', [id])
  return rows[0]
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

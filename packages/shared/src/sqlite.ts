import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lifecycle } from './lifecycle.ts'
import { toProblem } from './problem.ts'

/**
 * Opens a file of SQLite, brings it up to date, makes it a condition of readiness, and closes it after the last response. Each call stops
 * this process until it is done. Who reads does not wait for another process, and who writes does so by `retryLocked`.
 * @param migrations SQL; append to it: `user_version` counts those that a file has
 */
export function openDatabase(
  path: string,
  migrations: readonly string[],
  lifecycle: Lifecycle,
): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 5_000 }) // milliseconds to wait for one that migrates
  db.exec('begin immediate') // if several processes start at once, only one migrates
  const done = Number(db.prepare('pragma user_version').get()?.user_version)
  for (const migration of migrations.slice(done)) db.exec(migration)
  db.exec(`pragma user_version = ${Math.max(done, migrations.length)}; commit`) // a newer app may have done more
  db.exec('pragma journal_mode = wal; pragma busy_timeout = 0')
  lifecycle.addCheck('database', () => {
    using file = new DatabaseSync(path, { readOnly: true }) // `db` would not see that it was deleted
    file.prepare('select count(*) from sqlite_schema').get()
  })
  lifecycle.onClose(() => db.close())
  return db
}

/**
 * Writes as soon as no other process does. Requests are served meanwhile, which a busy timeout of SQLite would stop.
 * @param write is called every 10 ms until it gets through, so it has all statements of a transaction
 * @throws what becomes a 503, after 250 ms
 */
export async function retryLocked<Result>(write: () => Result): Promise<Result> {
  for (let tries = 0; ; tries++)
    try {
      return write()
    } catch (error) {
      if (tries === 25 || toProblem(error).status !== 503) throw error
      await sleep(10)
    }
}

import type { PoolConfig } from './config.ts'
import { createPiscinaRunner } from './piscina.ts'
import { createQOper8Runner } from './qoper8.ts'
import { PoolFull } from './refusal.ts'

type Tasks = typeof import('./tasks.ts')

/** Runs tasks in workers. A worker that ends or hangs takes only its own task along, and is replaced. */
export interface TaskPool {
  /**
   * @returns what the function of that name in the tasks module returned
   * @throws {PoolFull} at once if too many tasks wait
   * @throws {TaskTimeout} if the task ran for too long
   * @throws what the task threw, or an Error if its worker ended
   */
  run<Name extends keyof Tasks>(
    name: Name,
    ...input: Parameters<Tasks[Name]>
  ): Promise<ReturnType<Tasks[Name]>>
  /** Finishes what runs and waits, then ends the workers. */
  close(): Promise<void>
}

const TASKS = new URL('./tasks.ts', import.meta.url)

/** @param tasks a module whose exports are the tasks; tests have one whose tasks fail */
export function createTaskPool(config: PoolConfig, tasks = TASKS): TaskPool {
  const createRunner = config.library === 'piscina' ? createPiscinaRunner : createQOper8Runner
  const runner = createRunner(tasks, config)
  return {
    async run<Name extends keyof Tasks>(name: Name, ...[input]: Parameters<Tasks[Name]>) {
      // Here, because qoper8-cp has no limit, and piscina forgets its own for tasks with a signal (5.3).
      if (runner.waiting() >= config.queue) throw new PoolFull(config.queue)
      return (await runner.run(name, input)) as ReturnType<Tasks[Name]>
    },
    close: () => runner.close(),
  }
}

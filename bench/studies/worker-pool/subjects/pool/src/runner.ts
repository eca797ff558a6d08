/** The workers of one library, behind the limits of the pool. */
export interface Runner {
  /** How many tasks wait for a worker. */
  waiting(): number
  run(name: string, input: unknown): Promise<unknown>
  close(): Promise<void>
}

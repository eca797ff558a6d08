import { z } from 'zod'
import { type Pool, transact } from './postgres.ts'

/** What the recipe `postgres.ts` does in the database, with any framework. */

export const NewOrder = z.object({ tea: z.int32().min(1), grams: z.int().min(1).max(100_000) })

/** Notes an order and takes it from the stock, or neither. @returns its id @throws 409 if there is too little */
export function placeOrder(pool: Pool, { tea, grams }: z.infer<typeof NewOrder>): Promise<unknown> {
  return transact(pool, async (client) => {
    const noted = await client.query('insert into orders (tea, grams) values ($1, $2) returning id', [
      tea,
      grams,
    ])
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

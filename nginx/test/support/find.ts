/** `node find.ts OPTIONS` prints what `findNginx` finds with this environment, as JSON. */
import { findNginx } from '../../src/find/find.ts'

try {
  const found = await findNginx(JSON.parse(process.argv[2] ?? '{}'))
  console.log(JSON.stringify({ ...found, description: found.describe() }))
} catch (error) {
  console.log(JSON.stringify({ error: String(error) }))
}

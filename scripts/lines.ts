import { productLines } from './source-files.ts'

// Prints the table that `boundaries.test.ts` holds the product to.
const lines = productLines()
for (const [room, count] of lines) console.log(`${room.padEnd(16)}${String(count).padStart(7)}`)
console.log(`${'all'.padEnd(16)}${String([...lines.values()].reduce((sum, each) => sum + each, 0)).padStart(7)}`)

import { type LineCount, lineCounts } from './source-files.ts'

const print = (folder: string, { product, tests, comments }: LineCount) =>
  console.log([folder.padEnd(26), ...[product, tests, comments].map((count) => String(count).padStart(9))].join(''))

const counts = lineCounts()
console.log(['folder'.padEnd(26), ...['product', 'tests', 'comments'].map((title) => title.padStart(9))].join(''))
for (const [folder, count] of counts) print(folder, count)
const sum = (key: keyof LineCount) => [...counts.values()].reduce((total, count) => total + count[key], 0)
print('total', { product: sum('product'), tests: sum('tests'), comments: sum('comments') })

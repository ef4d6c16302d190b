import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiDocument } from '#lib/contract/openapi.ts'

const file = join(import.meta.dirname, '../public/openapi.json')
writeFileSync(file, `${JSON.stringify(openApiDocument(), null, 2)}\n`)
console.log(`wrote ${Object.keys(openApiDocument().paths).length} paths to public/openapi.json`)

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiDocument } from '#lib/contract/openapi.ts'

const document = openApiDocument()
writeFileSync(join(import.meta.dirname, '../public/openapi.json'), JSON.stringify(document))
console.log(`Wrote ${Object.keys(document.paths).length} paths to public/openapi.json`)

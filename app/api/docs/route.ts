import { docsIndex } from '#lib/gateway/docs/docs.ts'

// Written once, by the build.
export const dynamic = 'force-static'

export const GET = async () => Response.json(await docsIndex())

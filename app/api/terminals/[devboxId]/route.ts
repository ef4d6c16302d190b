import { listTerminals } from '#lib/gateway/terminals/held.ts'

export const GET = async (request: Request, { params }: { params: Promise<{ devboxId: string }> }) =>
  listTerminals(request, (await params).devboxId)

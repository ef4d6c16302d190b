import { downloadObject } from '#lib/gateway/objects/objects.ts'

export const GET = async (request: Request, { params }: { params: Promise<{ id: string }> }) =>
  downloadObject(request, (await params).id)

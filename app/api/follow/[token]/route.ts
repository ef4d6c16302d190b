import { followView } from '#lib/gateway/terminals/follow.ts'

export const GET = async (request: Request, { params }: { params: Promise<{ token: string }> }) =>
  followView(request, (await params).token)

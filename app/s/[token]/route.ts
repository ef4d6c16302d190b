import { openShare } from '#lib/gateway/shares/opened-share.ts'

export const GET = async (request: Request, { params }: { params: Promise<{ token: string }> }) =>
  openShare(request, (await params).token)

import { openSharedLogs } from '#lib/gateway/shares/opened-share.ts'

export const GET = async (request: Request, { params }: { params: Promise<{ token: string; run: string }> }) => {
  const { token, run } = await params
  return openSharedLogs(request, token, run)
}

# Names: config:update maxParallelism
npx convex run --component emailWorkpool config:update '{"maxParallelism":0}'

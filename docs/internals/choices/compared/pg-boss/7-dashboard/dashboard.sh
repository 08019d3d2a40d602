# Names: @pg-boss/dashboard DATABASE_URL
DATABASE_URL=postgres://localhost/app npx -y @pg-boss/dashboard

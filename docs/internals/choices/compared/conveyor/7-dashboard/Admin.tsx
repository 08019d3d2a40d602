// Names: dashboardApi authorize read write Dashboard api
import { Dashboard } from "convex-conveyor/dashboard";
import "convex-conveyor/dashboard.css";
import { api } from "./_generated/api";

export const Admin = () => <Dashboard api={api.dashboard} />;

// Style sheets are imported for the bundler, which makes app.css of them.
declare module "*.css";

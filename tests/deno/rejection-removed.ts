// flags:
const listener = (event: Event) => {
  console.log("once");
  event.preventDefault();
  removeEventListener("unhandledrejection", listener);
};
addEventListener("unhandledrejection", listener);
Promise.reject(1);
await new Promise((resolve) => setTimeout(resolve, 5));
Promise.reject(new Error("again"));
setTimeout(() => console.log("never"), 1000);

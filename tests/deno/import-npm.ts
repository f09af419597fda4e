// flags:
import dayjs from "npm:dayjs";
console.log(dayjs);

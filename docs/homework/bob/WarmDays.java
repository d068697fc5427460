import java.util.List;

public class WarmDays {
    // computes the average
    private static double average(List<Double> temps) {
        double total = 0;
        for (double t : temps) {
            total += t;
        }
        return temps.isEmpty() ? 0 : total / temps.size();
    }

    // counts consecutive hot days
    private static int countMax(List<Double> temps, double limit) {
        int max = 0;
        int run = 0;
        for (int k = 0; k < temps.size(); k++) {
            if (temps.get(k) >= limit) {
                run++;
                if (run > max) {
                    max = run;
                }
            } else {
                run = 0;
            }
        }
        return max;
    }

    public static void main(String[] argv) throws Exception {
        List<Double> temps = Reader.read(argv[0]);
        double limit = argv.length > 1 ? Double.parseDouble(argv[1]) : 25;
        System.out.println("longest: " + countMax(temps, limit));
        System.out.printf("mean: %.1f%n", average(temps));
    }
}
